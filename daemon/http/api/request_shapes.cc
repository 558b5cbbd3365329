// The bounds are those of the service's public API, with these exceptions. Attribute names have no bound
// here: storage bounds their bytes (SEM-009). A table has a name of 3 to 255 characters or an ARN (SEM-008).
// Some lists and maps have no bound in the service's API; here they have one, equal to or above the most that
// storage accepts, so that a longer request is refused before a message is made of it.
#include "daemon/http/api/request_shapes.h"

#include "storage/base/limits.h"

namespace itemdb::http {
namespace {

// Entries of a list in a table definition: indexes, key attributes, tags.
constexpr int64_t kMaxDefinitions = 1'000;
// The most placeholders that the expressions of one request can contain. A request has at most three
// expressions, and a placeholder with its separator takes at least three bytes.
constexpr int64_t kMaxPlaceholders = 3 * storage::kMaxExpressionBytes / 3;

constexpr Shape kKeySchemaAttributeName{.kind = ShapeKind::kString, .min = 1, .max = 255};
constexpr std::string_view kScalarAttributeTypeValues[] = {"S", "N", "B"};
constexpr Shape kScalarAttributeType{.kind = ShapeKind::kString, .values = kScalarAttributeTypeValues};
constexpr ShapeMember kAttributeDefinitionMembers[] = {{"AttributeName", &kKeySchemaAttributeName, true},
                                                       {"AttributeType", &kScalarAttributeType, true}};
constexpr Shape kAttributeDefinition{.kind = ShapeKind::kStructure, .members = kAttributeDefinitionMembers};
constexpr Shape kAttributeDefinitions{
    .kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kAttributeDefinition};
constexpr std::string_view kBillingModeValues[] = {"PROVISIONED", "PAY_PER_REQUEST"};
constexpr Shape kBillingMode{.kind = ShapeKind::kString, .values = kBillingModeValues};
constexpr Shape kAnyBoolean{.kind = ShapeKind::kBoolean};
constexpr Shape kIndexName{.kind = ShapeKind::kString, .min = 3, .max = 255, .pattern = "[a-zA-Z0-9_.-]+"};
constexpr std::string_view kKeyTypeValues[] = {"HASH", "RANGE"};
constexpr Shape kKeyType{.kind = ShapeKind::kString, .values = kKeyTypeValues};
constexpr ShapeMember kKeySchemaElementMembers[] = {{"AttributeName", &kKeySchemaAttributeName, true},
                                                    {"KeyType", &kKeyType, true}};
constexpr Shape kKeySchemaElement{.kind = ShapeKind::kStructure, .members = kKeySchemaElementMembers};
constexpr Shape kKeySchema{
    .kind = ShapeKind::kList, .min = 1, .max = kMaxDefinitions, .element = &kKeySchemaElement};
constexpr Shape kAnyLong{.kind = ShapeKind::kLong};
constexpr ShapeMember kOnDemandThroughputMembers[] = {{"MaxReadRequestUnits", &kAnyLong},
                                                      {"MaxWriteRequestUnits", &kAnyLong}};
constexpr Shape kOnDemandThroughput{.kind = ShapeKind::kStructure, .members = kOnDemandThroughputMembers};
constexpr Shape kNonKeyAttributeName{.kind = ShapeKind::kString, .min = 1, .max = 255};
constexpr Shape kNonKeyAttributeNameList{
    .kind = ShapeKind::kList, .min = 1, .max = 20, .element = &kNonKeyAttributeName};
constexpr std::string_view kProjectionTypeValues[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
constexpr Shape kProjectionType{.kind = ShapeKind::kString, .values = kProjectionTypeValues};
constexpr ShapeMember kProjectionMembers[] = {{"NonKeyAttributes", &kNonKeyAttributeNameList},
                                              {"ProjectionType", &kProjectionType}};
constexpr Shape kProjection{.kind = ShapeKind::kStructure, .members = kProjectionMembers};
constexpr Shape kPositiveLongObject{.kind = ShapeKind::kLong, .min = 1};
constexpr ShapeMember kProvisionedThroughputMembers[] = {{"ReadCapacityUnits", &kPositiveLongObject, true},
                                                         {"WriteCapacityUnits", &kPositiveLongObject, true}};
constexpr Shape kProvisionedThroughput{.kind = ShapeKind::kStructure,
                                       .members = kProvisionedThroughputMembers};
constexpr ShapeMember kWarmThroughputMembers[] = {{"ReadUnitsPerSecond", &kAnyLong},
                                                  {"WriteUnitsPerSecond", &kAnyLong}};
constexpr Shape kWarmThroughput{.kind = ShapeKind::kStructure, .members = kWarmThroughputMembers};
constexpr ShapeMember kGlobalSecondaryIndexMembers[] = {{"IndexName", &kIndexName, true},
                                                        {"KeySchema", &kKeySchema, true},
                                                        {"OnDemandThroughput", &kOnDemandThroughput},
                                                        {"Projection", &kProjection, true},
                                                        {"ProvisionedThroughput", &kProvisionedThroughput},
                                                        {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kGlobalSecondaryIndex{.kind = ShapeKind::kStructure, .members = kGlobalSecondaryIndexMembers};
constexpr Shape kGlobalSecondaryIndexList{
    .kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kGlobalSecondaryIndex};
constexpr Shape kUnsupported{.kind = ShapeKind::kUnsupported};
constexpr ShapeMember kLocalSecondaryIndexMembers[] = {
    {"IndexName", &kIndexName, true}, {"KeySchema", &kKeySchema, true}, {"Projection", &kProjection, true}};
constexpr Shape kLocalSecondaryIndex{.kind = ShapeKind::kStructure, .members = kLocalSecondaryIndexMembers};
constexpr Shape kLocalSecondaryIndexList{
    .kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kLocalSecondaryIndex};
constexpr Shape kAnyString{.kind = ShapeKind::kString};
constexpr std::string_view kSSETypeValues[] = {"AES256", "KMS"};
constexpr Shape kSSEType{.kind = ShapeKind::kString, .values = kSSETypeValues};
constexpr ShapeMember kSSESpecificationMembers[] = {
    {"Enabled", &kAnyBoolean}, {"KMSMasterKeyId", &kAnyString}, {"SSEType", &kSSEType}};
constexpr Shape kSSESpecification{.kind = ShapeKind::kStructure, .members = kSSESpecificationMembers};
constexpr std::string_view kStreamViewTypeValues[] = {"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES",
                                                      "KEYS_ONLY"};
constexpr Shape kStreamViewType{.kind = ShapeKind::kString, .values = kStreamViewTypeValues};
constexpr ShapeMember kStreamSpecificationMembers[] = {{"StreamEnabled", &kAnyBoolean, true},
                                                       {"StreamViewType", &kStreamViewType}};
constexpr Shape kStreamSpecification{.kind = ShapeKind::kStructure, .members = kStreamSpecificationMembers};
constexpr std::string_view kTableClassValues[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS"};
constexpr Shape kTableClass{.kind = ShapeKind::kString, .values = kTableClassValues};
constexpr Shape kTableArn{.kind = ShapeKind::kTableName};
constexpr Shape kTagKeyString{.kind = ShapeKind::kString, .min = 1, .max = 128};
constexpr Shape kTagValueString{.kind = ShapeKind::kString, .min = 0, .max = 256};
constexpr ShapeMember kTagMembers[] = {{"Key", &kTagKeyString, true}, {"Value", &kTagValueString, true}};
constexpr Shape kTag{.kind = ShapeKind::kStructure, .members = kTagMembers};
constexpr Shape kTagList{.kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kTag};
constexpr ShapeMember kCreateTableInputMembers[] = {{"AttributeDefinitions", &kAttributeDefinitions},
                                                    {"BillingMode", &kBillingMode},
                                                    {"DeletionProtectionEnabled", &kAnyBoolean},
                                                    {"GlobalSecondaryIndexes", &kGlobalSecondaryIndexList},
                                                    {"GlobalTableSettingsReplicationMode", &kUnsupported},
                                                    {"GlobalTableSourceArn", &kUnsupported},
                                                    {"KeySchema", &kKeySchema},
                                                    {"LocalSecondaryIndexes", &kLocalSecondaryIndexList},
                                                    {"OnDemandThroughput", &kOnDemandThroughput},
                                                    {"ProvisionedThroughput", &kProvisionedThroughput},
                                                    {"ResourcePolicy", &kUnsupported},
                                                    {"SSESpecification", &kSSESpecification},
                                                    {"StreamSpecification", &kStreamSpecification},
                                                    {"TableClass", &kTableClass},
                                                    {"TableName", &kTableArn, true},
                                                    {"Tags", &kTagList},
                                                    {"WarmThroughput", &kWarmThroughput}};
constexpr ShapeMember kDeleteTableInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr ShapeMember kDescribeTableInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr Shape kTableName{.kind = ShapeKind::kString, .min = 3, .max = 255, .pattern = "[a-zA-Z0-9_.-]+"};
constexpr Shape kListTablesInputLimit{.kind = ShapeKind::kInteger, .min = 1, .max = 100};
constexpr ShapeMember kListTablesInputMembers[] = {{"ExclusiveStartTableName", &kTableName},
                                                   {"Limit", &kListTablesInputLimit}};
constexpr ShapeMember kCreateGlobalSecondaryIndexActionMembers[] = {
    {"IndexName", &kIndexName, true},
    {"KeySchema", &kKeySchema, true},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"Projection", &kProjection, true},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kCreateGlobalSecondaryIndexAction{.kind = ShapeKind::kStructure,
                                                  .members = kCreateGlobalSecondaryIndexActionMembers};
constexpr ShapeMember kDeleteGlobalSecondaryIndexActionMembers[] = {{"IndexName", &kIndexName, true}};
constexpr Shape kDeleteGlobalSecondaryIndexAction{.kind = ShapeKind::kStructure,
                                                  .members = kDeleteGlobalSecondaryIndexActionMembers};
constexpr ShapeMember kUpdateGlobalSecondaryIndexActionMembers[] = {
    {"IndexName", &kIndexName, true},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kUpdateGlobalSecondaryIndexAction{.kind = ShapeKind::kStructure,
                                                  .members = kUpdateGlobalSecondaryIndexActionMembers};
constexpr ShapeMember kGlobalSecondaryIndexUpdateMembers[] = {{"Create", &kCreateGlobalSecondaryIndexAction},
                                                              {"Delete", &kDeleteGlobalSecondaryIndexAction},
                                                              {"Update", &kUpdateGlobalSecondaryIndexAction}};
constexpr Shape kGlobalSecondaryIndexUpdate{.kind = ShapeKind::kStructure,
                                            .members = kGlobalSecondaryIndexUpdateMembers};
constexpr Shape kGlobalSecondaryIndexUpdateList{
    .kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kGlobalSecondaryIndexUpdate};
constexpr ShapeMember kUpdateTableInputMembers[] = {
    {"AttributeDefinitions", &kAttributeDefinitions},
    {"BillingMode", &kBillingMode},
    {"DeletionProtectionEnabled", &kAnyBoolean},
    {"GlobalSecondaryIndexUpdates", &kGlobalSecondaryIndexUpdateList},
    {"GlobalTableSettingsReplicationMode", &kUnsupported},
    {"GlobalTableWitnessUpdates", &kUnsupported},
    {"MultiRegionConsistency", &kUnsupported},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"ReplicaUpdates", &kUnsupported},
    {"SSESpecification", &kSSESpecification},
    {"StreamSpecification", &kStreamSpecification},
    {"TableClass", &kTableClass},
    {"TableName", &kTableArn, true},
    {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kResourceArnString{.kind = ShapeKind::kString, .min = 1, .max = 1283};
constexpr ShapeMember kTagResourceInputMembers[] = {{"ResourceArn", &kResourceArnString, true},
                                                    {"Tags", &kTagList, true}};
constexpr Shape kTagKeyList{.kind = ShapeKind::kList, .max = kMaxDefinitions, .element = &kTagKeyString};
constexpr ShapeMember kUntagResourceInputMembers[] = {{"ResourceArn", &kResourceArnString, true},
                                                      {"TagKeys", &kTagKeyList, true}};
constexpr ShapeMember kListTagsOfResourceInputMembers[] = {{"NextToken", &kAnyString},
                                                           {"ResourceArn", &kResourceArnString, true}};
// No greatest length: storage bounds the bytes of the name.
constexpr Shape kTimeToLiveAttributeName{.kind = ShapeKind::kString, .min = 1};
constexpr ShapeMember kTimeToLiveSpecificationMembers[] = {{"AttributeName", &kTimeToLiveAttributeName, true},
                                                           {"Enabled", &kAnyBoolean, true}};
constexpr Shape kTimeToLiveSpecification{.kind = ShapeKind::kStructure,
                                         .members = kTimeToLiveSpecificationMembers};
constexpr ShapeMember kUpdateTimeToLiveInputMembers[] = {
    {"TableName", &kTableArn, true}, {"TimeToLiveSpecification", &kTimeToLiveSpecification, true}};
constexpr ShapeMember kDescribeTimeToLiveInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr std::string_view kConditionalOperatorValues[] = {"AND", "OR"};
constexpr Shape kConditionalOperator{.kind = ShapeKind::kString, .values = kConditionalOperatorValues};
constexpr Shape kAttributeValue{.kind = ShapeKind::kAttributeValue};
constexpr Shape kAttributeValueList{
    .kind = ShapeKind::kList, .max = storage::kMaxLegacyValues, .element = &kAttributeValue};
constexpr std::string_view kComparisonOperatorValues[] = {
    "EQ",      "NE",       "IN",   "LE",       "LT",           "GE",         "GT",
    "BETWEEN", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"};
constexpr Shape kComparisonOperator{.kind = ShapeKind::kString, .values = kComparisonOperatorValues};
constexpr ShapeMember kExpectedAttributeValueMembers[] = {{"AttributeValueList", &kAttributeValueList},
                                                          {"ComparisonOperator", &kComparisonOperator},
                                                          {"Exists", &kAnyBoolean},
                                                          {"Value", &kAttributeValue}};
constexpr Shape kExpectedAttributeValue{.kind = ShapeKind::kStructure,
                                        .members = kExpectedAttributeValueMembers};
constexpr Shape kExpectedAttributeMap{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kExpectedAttributeValue};
constexpr Shape kExpressionAttributeNameMap{
    .kind = ShapeKind::kMap, .max = kMaxPlaceholders, .element = &kAnyString};
constexpr Shape kExpressionAttributeValueMap{
    .kind = ShapeKind::kMap, .max = kMaxPlaceholders, .element = &kAttributeValue};
constexpr Shape kAttributeMap{.kind = ShapeKind::kMap, .element = &kAttributeValue};
constexpr std::string_view kReturnConsumedCapacityValues[] = {"INDEXES", "TOTAL", "NONE"};
constexpr Shape kReturnConsumedCapacity{.kind = ShapeKind::kString, .values = kReturnConsumedCapacityValues};
constexpr std::string_view kReturnItemCollectionMetricsValues[] = {"SIZE", "NONE"};
constexpr Shape kReturnItemCollectionMetrics{.kind = ShapeKind::kString,
                                             .values = kReturnItemCollectionMetricsValues};
constexpr std::string_view kReturnValueValues[] = {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW",
                                                   "UPDATED_NEW"};
constexpr Shape kReturnValue{.kind = ShapeKind::kString, .values = kReturnValueValues};
constexpr std::string_view kReturnValuesOnConditionCheckFailureValues[] = {"ALL_OLD", "NONE"};
constexpr Shape kReturnValuesOnConditionCheckFailure{.kind = ShapeKind::kString,
                                                     .values = kReturnValuesOnConditionCheckFailureValues};
constexpr ShapeMember kPutItemInputMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ConditionalOperator", &kConditionalOperator},
    {"Expected", &kExpectedAttributeMap},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Item", &kAttributeMap, true},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics},
    {"ReturnValues", &kReturnValue},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kAttributeNameList{
    .kind = ShapeKind::kList, .min = 1, .max = storage::kMaxLegacyEntries, .element = &kAnyString};
constexpr ShapeMember kGetItemInputMembers[] = {{"AttributesToGet", &kAttributeNameList},
                                                {"ConsistentRead", &kAnyBoolean},
                                                {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                                {"Key", &kAttributeMap, true},
                                                {"ProjectionExpression", &kAnyString},
                                                {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                                {"TableName", &kTableArn, true}};
constexpr std::string_view kAttributeActionValues[] = {"ADD", "PUT", "DELETE"};
constexpr Shape kAttributeAction{.kind = ShapeKind::kString, .values = kAttributeActionValues};
constexpr ShapeMember kAttributeValueUpdateMembers[] = {{"Action", &kAttributeAction},
                                                        {"Value", &kAttributeValue}};
constexpr Shape kAttributeValueUpdate{.kind = ShapeKind::kStructure, .members = kAttributeValueUpdateMembers};
constexpr Shape kAttributeUpdates{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyEntries, .element = &kAttributeValueUpdate};
constexpr ShapeMember kUpdateItemInputMembers[] = {
    {"AttributeUpdates", &kAttributeUpdates},
    {"ConditionExpression", &kAnyString},
    {"ConditionalOperator", &kConditionalOperator},
    {"Expected", &kExpectedAttributeMap},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics},
    {"ReturnValues", &kReturnValue},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true},
    {"UpdateExpression", &kAnyString}};
constexpr ShapeMember kDeleteItemInputMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ConditionalOperator", &kConditionalOperator},
    {"Expected", &kExpectedAttributeMap},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics},
    {"ReturnValues", &kReturnValue},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr ShapeMember kConditionMembers[] = {{"AttributeValueList", &kAttributeValueList},
                                             {"ComparisonOperator", &kComparisonOperator, true}};
constexpr Shape kCondition{.kind = ShapeKind::kStructure, .members = kConditionMembers};
constexpr Shape kKeyConditions{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kCondition};
constexpr Shape kPositiveIntegerObject{.kind = ShapeKind::kInteger, .min = 1};
constexpr Shape kFilterConditionMap{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kCondition};
constexpr std::string_view kSelectValues[] = {"ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES",
                                              "SPECIFIC_ATTRIBUTES", "COUNT"};
constexpr Shape kSelect{.kind = ShapeKind::kString, .values = kSelectValues};
constexpr ShapeMember kQueryInputMembers[] = {{"AttributesToGet", &kAttributeNameList},
                                              {"ConditionalOperator", &kConditionalOperator},
                                              {"ConsistentRead", &kAnyBoolean},
                                              {"ExclusiveStartKey", &kAttributeMap},
                                              {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                              {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
                                              {"FilterExpression", &kAnyString},
                                              {"IndexName", &kIndexName},
                                              {"KeyConditionExpression", &kAnyString},
                                              {"KeyConditions", &kKeyConditions},
                                              {"Limit", &kPositiveIntegerObject},
                                              {"ProjectionExpression", &kAnyString},
                                              {"QueryFilter", &kFilterConditionMap},
                                              {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                              {"ScanIndexForward", &kAnyBoolean},
                                              {"Select", &kSelect},
                                              {"TableName", &kTableArn, true}};
constexpr Shape kScanSegment{.kind = ShapeKind::kInteger, .min = 0, .max = 999999};
constexpr Shape kScanTotalSegments{.kind = ShapeKind::kInteger, .min = 1, .max = 1000000};
constexpr ShapeMember kScanInputMembers[] = {{"AttributesToGet", &kAttributeNameList},
                                             {"ConditionalOperator", &kConditionalOperator},
                                             {"ConsistentRead", &kAnyBoolean},
                                             {"ExclusiveStartKey", &kAttributeMap},
                                             {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                             {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
                                             {"FilterExpression", &kAnyString},
                                             {"IndexName", &kIndexName},
                                             {"Limit", &kPositiveIntegerObject},
                                             {"ProjectionExpression", &kAnyString},
                                             {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                             {"ScanFilter", &kFilterConditionMap},
                                             {"Segment", &kScanSegment},
                                             {"Select", &kSelect},
                                             {"TableName", &kTableArn, true},
                                             {"TotalSegments", &kScanTotalSegments}};
constexpr Shape kKeyList{.kind = ShapeKind::kList, .min = 1, .max = 100, .element = &kAttributeMap};
constexpr ShapeMember kKeysAndAttributesMembers[] = {
    {"AttributesToGet", &kAttributeNameList},
    {"ConsistentRead", &kAnyBoolean},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"Keys", &kKeyList, true},
    {"ProjectionExpression", &kAnyString}};
constexpr Shape kKeysAndAttributes{.kind = ShapeKind::kStructure, .members = kKeysAndAttributesMembers};
constexpr Shape kBatchGetRequestMap{
    .kind = ShapeKind::kMap, .min = 1, .max = 100, .key = &kTableArn, .element = &kKeysAndAttributes};
constexpr ShapeMember kBatchGetItemInputMembers[] = {{"RequestItems", &kBatchGetRequestMap, true},
                                                     {"ReturnConsumedCapacity", &kReturnConsumedCapacity}};
constexpr ShapeMember kDeleteRequestMembers[] = {{"Key", &kAttributeMap, true}};
constexpr Shape kDeleteRequest{.kind = ShapeKind::kStructure, .members = kDeleteRequestMembers};
constexpr ShapeMember kPutRequestMembers[] = {{"Item", &kAttributeMap, true}};
constexpr Shape kPutRequest{.kind = ShapeKind::kStructure, .members = kPutRequestMembers};
constexpr ShapeMember kWriteRequestMembers[] = {{"DeleteRequest", &kDeleteRequest},
                                                {"PutRequest", &kPutRequest}};
constexpr Shape kWriteRequest{.kind = ShapeKind::kStructure, .members = kWriteRequestMembers};
constexpr Shape kWriteRequests{.kind = ShapeKind::kList, .min = 1, .max = 25, .element = &kWriteRequest};
constexpr Shape kBatchWriteItemRequestMap{
    .kind = ShapeKind::kMap, .min = 1, .max = 25, .key = &kTableArn, .element = &kWriteRequests};
constexpr ShapeMember kBatchWriteItemInputMembers[] = {
    {"RequestItems", &kBatchWriteItemRequestMap, true},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics}};
constexpr Shape kClientRequestToken{.kind = ShapeKind::kString, .min = 1, .max = 36};
constexpr ShapeMember kConditionCheckMembers[] = {
    {"ConditionExpression", &kAnyString, true},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kConditionCheck{.kind = ShapeKind::kStructure, .members = kConditionCheckMembers};
constexpr ShapeMember kDeleteMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kDelete{.kind = ShapeKind::kStructure, .members = kDeleteMembers};
constexpr ShapeMember kPutMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Item", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kPut{.kind = ShapeKind::kStructure, .members = kPutMembers};
constexpr ShapeMember kUpdateMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true},
    {"UpdateExpression", &kAnyString, true}};
constexpr Shape kUpdate{.kind = ShapeKind::kStructure, .members = kUpdateMembers};
constexpr ShapeMember kTransactWriteItemMembers[] = {
    {"ConditionCheck", &kConditionCheck}, {"Delete", &kDelete}, {"Put", &kPut}, {"Update", &kUpdate}};
constexpr Shape kTransactWriteItem{.kind = ShapeKind::kStructure, .members = kTransactWriteItemMembers};
constexpr Shape kTransactWriteItemList{
    .kind = ShapeKind::kList, .min = 1, .max = 100, .element = &kTransactWriteItem};
constexpr ShapeMember kTransactWriteItemsInputMembers[] = {
    {"ClientRequestToken", &kClientRequestToken},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics},
    {"TransactItems", &kTransactWriteItemList, true}};
constexpr ShapeMember kGetMembers[] = {{"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                       {"Key", &kAttributeMap, true},
                                       {"ProjectionExpression", &kAnyString},
                                       {"TableName", &kTableArn, true}};
constexpr Shape kGet{.kind = ShapeKind::kStructure, .members = kGetMembers};
constexpr ShapeMember kTransactGetItemMembers[] = {{"Get", &kGet, true}};
constexpr Shape kTransactGetItem{.kind = ShapeKind::kStructure, .members = kTransactGetItemMembers};
constexpr Shape kTransactGetItemList{
    .kind = ShapeKind::kList, .min = 1, .max = 100, .element = &kTransactGetItem};
constexpr ShapeMember kTransactGetItemsInputMembers[] = {{"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                                         {"TransactItems", &kTransactGetItemList, true}};
constexpr Shape kPartiQLNextToken{.kind = ShapeKind::kString, .min = 1, .max = 32768};
constexpr Shape kPreparedStatementParameters{
    .kind = ShapeKind::kList, .min = 1, .max = storage::kMaxStatementCharacters, .element = &kAttributeValue};
constexpr Shape kPartiQLStatement{.kind = ShapeKind::kString, .min = 1, .max = 8192};
constexpr ShapeMember kExecuteStatementInputMembers[] = {
    {"ConsistentRead", &kAnyBoolean},
    {"Limit", &kPositiveIntegerObject},
    {"NextToken", &kPartiQLNextToken},
    {"Parameters", &kPreparedStatementParameters},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"Statement", &kPartiQLStatement, true}};
constexpr ShapeMember kBatchStatementRequestMembers[] = {
    {"ConsistentRead", &kAnyBoolean},
    {"Parameters", &kPreparedStatementParameters},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"Statement", &kPartiQLStatement, true}};
constexpr Shape kBatchStatementRequest{.kind = ShapeKind::kStructure,
                                       .members = kBatchStatementRequestMembers};
constexpr Shape kPartiQLBatchRequest{
    .kind = ShapeKind::kList, .min = 1, .max = 25, .element = &kBatchStatementRequest};
constexpr ShapeMember kBatchExecuteStatementInputMembers[] = {
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity}, {"Statements", &kPartiQLBatchRequest, true}};
constexpr ShapeMember kParameterizedStatementMembers[] = {
    {"Parameters", &kPreparedStatementParameters},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"Statement", &kPartiQLStatement, true}};
constexpr Shape kParameterizedStatement{.kind = ShapeKind::kStructure,
                                        .members = kParameterizedStatementMembers};
constexpr Shape kParameterizedStatements{
    .kind = ShapeKind::kList, .min = 1, .max = 100, .element = &kParameterizedStatement};
constexpr ShapeMember kExecuteTransactionInputMembers[] = {
    {"ClientRequestToken", &kClientRequestToken},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"TransactStatements", &kParameterizedStatements, true}};

constexpr Shape kStreamArn{.kind = ShapeKind::kString, .min = 37, .max = 1024};
constexpr Shape kShardId{.kind = ShapeKind::kString, .min = 28, .max = 65};
constexpr Shape kSequenceNumber{.kind = ShapeKind::kString, .min = 21, .max = 40};
constexpr Shape kShardIterator{.kind = ShapeKind::kString, .min = 1, .max = 2048};
constexpr std::string_view kShardFilterTypeValues[] = {"CHILD_SHARDS"};
constexpr Shape kShardFilterType{.kind = ShapeKind::kString, .values = kShardFilterTypeValues};
constexpr ShapeMember kShardFilterMembers[] = {{"ShardId", &kShardId}, {"Type", &kShardFilterType}};
constexpr Shape kShardFilter{.kind = ShapeKind::kStructure, .members = kShardFilterMembers};
constexpr std::string_view kShardIteratorTypeValues[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                                         "AFTER_SEQUENCE_NUMBER"};
constexpr Shape kShardIteratorType{.kind = ShapeKind::kString, .values = kShardIteratorTypeValues};
constexpr ShapeMember kListStreamsInputMembers[] = {
    {"ExclusiveStartStreamArn", &kStreamArn}, {"Limit", &kPositiveIntegerObject}, {"TableName", &kTableName}};
constexpr ShapeMember kDescribeStreamInputMembers[] = {{"ExclusiveStartShardId", &kShardId},
                                                       {"Limit", &kPositiveIntegerObject},
                                                       {"ShardFilter", &kShardFilter},
                                                       {"StreamArn", &kStreamArn, true}};
constexpr ShapeMember kGetShardIteratorInputMembers[] = {{"SequenceNumber", &kSequenceNumber},
                                                         {"ShardId", &kShardId, true},
                                                         {"ShardIteratorType", &kShardIteratorType, true},
                                                         {"StreamArn", &kStreamArn, true}};
constexpr ShapeMember kGetRecordsInputMembers[] = {{"Limit", &kPositiveIntegerObject},
                                                   {"ShardIterator", &kShardIterator, true}};

}  // namespace

constexpr Shape kCreateTableInput{.kind = ShapeKind::kStructure, .members = kCreateTableInputMembers};
constexpr Shape kDeleteTableInput{.kind = ShapeKind::kStructure, .members = kDeleteTableInputMembers};
constexpr Shape kDescribeTableInput{.kind = ShapeKind::kStructure, .members = kDescribeTableInputMembers};
constexpr Shape kListTablesInput{.kind = ShapeKind::kStructure, .members = kListTablesInputMembers};
constexpr Shape kUpdateTableInput{.kind = ShapeKind::kStructure, .members = kUpdateTableInputMembers};
constexpr Shape kDescribeLimitsInput{.kind = ShapeKind::kStructure};
constexpr Shape kDescribeEndpointsRequest{.kind = ShapeKind::kStructure};
constexpr Shape kTagResourceInput{.kind = ShapeKind::kStructure, .members = kTagResourceInputMembers};
constexpr Shape kUntagResourceInput{.kind = ShapeKind::kStructure, .members = kUntagResourceInputMembers};
constexpr Shape kListTagsOfResourceInput{.kind = ShapeKind::kStructure,
                                         .members = kListTagsOfResourceInputMembers};
constexpr Shape kUpdateTimeToLiveInput{.kind = ShapeKind::kStructure,
                                       .members = kUpdateTimeToLiveInputMembers};
constexpr Shape kDescribeTimeToLiveInput{.kind = ShapeKind::kStructure,
                                         .members = kDescribeTimeToLiveInputMembers};
constexpr Shape kPutItemInput{.kind = ShapeKind::kStructure, .members = kPutItemInputMembers};
constexpr Shape kGetItemInput{.kind = ShapeKind::kStructure, .members = kGetItemInputMembers};
constexpr Shape kUpdateItemInput{.kind = ShapeKind::kStructure, .members = kUpdateItemInputMembers};
constexpr Shape kDeleteItemInput{.kind = ShapeKind::kStructure, .members = kDeleteItemInputMembers};
constexpr Shape kQueryInput{.kind = ShapeKind::kStructure, .members = kQueryInputMembers};
constexpr Shape kScanInput{.kind = ShapeKind::kStructure, .members = kScanInputMembers};
constexpr Shape kBatchGetItemInput{.kind = ShapeKind::kStructure, .members = kBatchGetItemInputMembers};
constexpr Shape kBatchWriteItemInput{.kind = ShapeKind::kStructure, .members = kBatchWriteItemInputMembers};
constexpr Shape kTransactWriteItemsInput{.kind = ShapeKind::kStructure,
                                         .members = kTransactWriteItemsInputMembers};
constexpr Shape kTransactGetItemsInput{.kind = ShapeKind::kStructure,
                                       .members = kTransactGetItemsInputMembers};
constexpr Shape kExecuteStatementInput{.kind = ShapeKind::kStructure,
                                       .members = kExecuteStatementInputMembers};
constexpr Shape kBatchExecuteStatementInput{.kind = ShapeKind::kStructure,
                                            .members = kBatchExecuteStatementInputMembers};
constexpr Shape kExecuteTransactionInput{.kind = ShapeKind::kStructure,
                                         .members = kExecuteTransactionInputMembers};
constexpr Shape kListStreamsInput{.kind = ShapeKind::kStructure, .members = kListStreamsInputMembers};
constexpr Shape kDescribeStreamInput{.kind = ShapeKind::kStructure, .members = kDescribeStreamInputMembers};
constexpr Shape kGetShardIteratorInput{.kind = ShapeKind::kStructure,
                                       .members = kGetShardIteratorInputMembers};
constexpr Shape kGetRecordsInput{.kind = ShapeKind::kStructure, .members = kGetRecordsInputMembers};

}  // namespace itemdb::http
