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

constexpr Shape Structure(std::span<const ShapeMember> members, std::string_view type = {}) {
  return {.kind = ShapeKind::kStructure, .members = members, .type = type};
}
constexpr Shape OneOf(std::span<const std::string_view> values) {
  return {.kind = ShapeKind::kString, .values = values};
}
constexpr Shape ListOf(const Shape* element, int64_t min, int64_t max) {
  return {.kind = ShapeKind::kList, .min = min, .max = max, .element = element};
}
constexpr Shape Text(int64_t min, int64_t max) {
  return {.kind = ShapeKind::kString, .min = min, .max = max};
}

constexpr Shape kKeySchemaAttributeName = Text(1, 255);
// The values of enumerations are in the order in which the service lists them.
constexpr std::string_view kScalarAttributeTypeValues[] = {"B", "N", "S"};
constexpr Shape kScalarAttributeType = OneOf(kScalarAttributeTypeValues);
constexpr ShapeMember kAttributeDefinitionMembers[] = {{"AttributeName", &kKeySchemaAttributeName, true},
                                                       {"AttributeType", &kScalarAttributeType, true}};
constexpr Shape kAttributeDefinition = Structure(kAttributeDefinitionMembers);
constexpr Shape kAttributeDefinitions = ListOf(&kAttributeDefinition, 0, kMaxDefinitions);
constexpr std::string_view kBillingModeValues[] = {"PROVISIONED", "PAY_PER_REQUEST"};
constexpr Shape kBillingMode = OneOf(kBillingModeValues);
constexpr Shape kAnyBoolean{.kind = ShapeKind::kBoolean};
constexpr Shape kIndexName{.kind = ShapeKind::kString, .min = 3, .max = 255, .pattern = "[a-zA-Z0-9_.-]+"};
constexpr std::string_view kKeyTypeValues[] = {"HASH", "RANGE"};
constexpr Shape kKeyType = OneOf(kKeyTypeValues);
constexpr ShapeMember kKeySchemaElementMembers[] = {{"AttributeName", &kKeySchemaAttributeName, true},
                                                    {"KeyType", &kKeyType, true}};
constexpr Shape kKeySchemaElement = Structure(kKeySchemaElementMembers, "KeySchemaElement");
constexpr Shape kKeySchema = ListOf(&kKeySchemaElement, 1, kMaxDefinitions);
// A table has at most one HASH and one RANGE attribute; a global index may have several.
constexpr Shape kTableKeySchema = ListOf(&kKeySchemaElement, 1, 2);
constexpr Shape kAnyLong{.kind = ShapeKind::kLong};
constexpr ShapeMember kOnDemandThroughputMembers[] = {{"MaxReadRequestUnits", &kAnyLong},
                                                      {"MaxWriteRequestUnits", &kAnyLong}};
constexpr Shape kOnDemandThroughput = Structure(kOnDemandThroughputMembers);
constexpr Shape kNonKeyAttributeName = Text(1, 255);
constexpr Shape kNonKeyAttributeNameList = ListOf(&kNonKeyAttributeName, 1, 20);
constexpr std::string_view kProjectionTypeValues[] = {"ALL", "INCLUDE", "KEYS_ONLY"};
constexpr Shape kProjectionType = OneOf(kProjectionTypeValues);
constexpr ShapeMember kProjectionMembers[] = {{"NonKeyAttributes", &kNonKeyAttributeNameList},
                                              {"ProjectionType", &kProjectionType}};
constexpr Shape kProjection = Structure(kProjectionMembers);
constexpr Shape kPositiveLongObject{.kind = ShapeKind::kLong, .min = 1};
constexpr ShapeMember kProvisionedThroughputMembers[] = {{"ReadCapacityUnits", &kPositiveLongObject, true},
                                                         {"WriteCapacityUnits", &kPositiveLongObject, true}};
constexpr Shape kProvisionedThroughput = Structure(kProvisionedThroughputMembers);
constexpr ShapeMember kWarmThroughputMembers[] = {{"ReadUnitsPerSecond", &kAnyLong},
                                                  {"WriteUnitsPerSecond", &kAnyLong}};
constexpr Shape kWarmThroughput = Structure(kWarmThroughputMembers);
constexpr ShapeMember kGlobalSecondaryIndexMembers[] = {{"IndexName", &kIndexName, true},
                                                        {"KeySchema", &kKeySchema, true},
                                                        {"OnDemandThroughput", &kOnDemandThroughput},
                                                        {"Projection", &kProjection, true},
                                                        {"ProvisionedThroughput", &kProvisionedThroughput},
                                                        {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kGlobalSecondaryIndex = Structure(kGlobalSecondaryIndexMembers);
constexpr Shape kGlobalSecondaryIndexList = ListOf(&kGlobalSecondaryIndex, 0, kMaxDefinitions);
constexpr Shape kReplication{.kind = ShapeKind::kUnsupported,
                             .why = "itemdb is one machine without replicas"};
constexpr Shape kPolicy{.kind = ShapeKind::kUnsupported,
                        .why = "itemdb has access keys with roles, and no policies"};
constexpr ShapeMember kVectorAttributeMembers[] = {{"AttributeName", &kKeySchemaAttributeName, true}};
constexpr Shape kVectorAttribute = Structure(kVectorAttributeMembers);
constexpr std::string_view kVectorDistanceFunctionValues[] = {"COSINE", "EUCLIDEAN", "DOT_PRODUCT"};
constexpr Shape kVectorDistanceFunction = OneOf(kVectorDistanceFunctionValues);
constexpr std::string_view kSearchSchemaElementTypeValues[] = {"HASH", "INLINE_FILTER"};
constexpr Shape kSearchSchemaElementType = OneOf(kSearchSchemaElementTypeValues);
constexpr ShapeMember kSearchSchemaElementMembers[] = {
    {"AttributeName", &kKeySchemaAttributeName, true},
    {"SearchSchemaElementType", &kSearchSchemaElementType, true}};
constexpr Shape kSearchSchemaElement = Structure(kSearchSchemaElementMembers);
constexpr Shape kSearchSchema = ListOf(&kSearchSchemaElement, 1, kMaxDefinitions);
constexpr ShapeMember kVectorIndexMembers[] = {
    {"Dimensions", &kPositiveLongObject, true}, {"DistanceFunction", &kVectorDistanceFunction, true},
    {"IndexName", &kIndexName, true},           {"Projection", &kProjection, true},
    {"SearchSchema", &kSearchSchema},           {"VectorAttribute", &kVectorAttribute, true}};
constexpr Shape kVectorIndex = Structure(kVectorIndexMembers);
constexpr Shape kVectorIndexList = ListOf(&kVectorIndex, 0, kMaxDefinitions);
constexpr ShapeMember kDeleteVectorIndexActionMembers[] = {{"IndexName", &kIndexName, true}};
constexpr Shape kDeleteVectorIndexAction = Structure(kDeleteVectorIndexActionMembers);
constexpr ShapeMember kVectorIndexUpdateMembers[] = {{"Create", &kVectorIndex},
                                                     {"Delete", &kDeleteVectorIndexAction}};
constexpr Shape kVectorIndexUpdate = Structure(kVectorIndexUpdateMembers);
constexpr Shape kVectorIndexUpdateList = ListOf(&kVectorIndexUpdate, 0, kMaxDefinitions);
constexpr ShapeMember kLocalSecondaryIndexMembers[] = {
    {"IndexName", &kIndexName, true}, {"KeySchema", &kKeySchema, true}, {"Projection", &kProjection, true}};
constexpr Shape kLocalSecondaryIndex = Structure(kLocalSecondaryIndexMembers);
constexpr Shape kLocalSecondaryIndexList = ListOf(&kLocalSecondaryIndex, 0, kMaxDefinitions);
constexpr Shape kAnyString{.kind = ShapeKind::kString};
constexpr std::string_view kSSETypeValues[] = {"AES256", "KMS"};
constexpr Shape kSSEType = OneOf(kSSETypeValues);
constexpr ShapeMember kSSESpecificationMembers[] = {
    {"Enabled", &kAnyBoolean}, {"KMSMasterKeyId", &kAnyString}, {"SSEType", &kSSEType}};
constexpr Shape kSSESpecification = Structure(kSSESpecificationMembers);
constexpr std::string_view kStreamViewTypeValues[] = {"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES",
                                                      "KEYS_ONLY"};
constexpr Shape kStreamViewType = OneOf(kStreamViewTypeValues);
constexpr ShapeMember kStreamSpecificationMembers[] = {{"StreamEnabled", &kAnyBoolean, true},
                                                       {"StreamViewType", &kStreamViewType}};
constexpr Shape kStreamSpecification = Structure(kStreamSpecificationMembers);
constexpr std::string_view kTableClassValues[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS"};
constexpr Shape kTableClass = OneOf(kTableClassValues);
constexpr Shape kTableArn{.kind = ShapeKind::kTableName};
constexpr Shape kNewTableName{.kind = ShapeKind::kTableName, .pattern = "[a-zA-Z0-9_.-]+"};
constexpr Shape kTagKeyString = Text(1, 128);
constexpr Shape kTagValueString = Text(0, 256);
constexpr ShapeMember kTagMembers[] = {{"Key", &kTagKeyString, true}, {"Value", &kTagValueString, true}};
constexpr Shape kTag = Structure(kTagMembers);
constexpr Shape kTagList = ListOf(&kTag, 0, kMaxDefinitions);
constexpr ShapeMember kCreateTableInputMembers[] = {{"AttributeDefinitions", &kAttributeDefinitions, true},
                                                    {"BillingMode", &kBillingMode},
                                                    {"DeletionProtectionEnabled", &kAnyBoolean},
                                                    {"GlobalSecondaryIndexes", &kGlobalSecondaryIndexList},
                                                    {"GlobalTableSettingsReplicationMode", &kReplication},
                                                    {"GlobalTableSourceArn", &kReplication},
                                                    {"KeySchema", &kTableKeySchema, true},
                                                    {"LocalSecondaryIndexes", &kLocalSecondaryIndexList},
                                                    {"OnDemandThroughput", &kOnDemandThroughput},
                                                    {"ProvisionedThroughput", &kProvisionedThroughput},
                                                    {"ResourcePolicy", &kPolicy},
                                                    {"SSESpecification", &kSSESpecification},
                                                    {"StreamSpecification", &kStreamSpecification},
                                                    {"TableClass", &kTableClass},
                                                    {"TableName", &kNewTableName, true},
                                                    {"Tags", &kTagList},
                                                    {"VectorIndexes", &kVectorIndexList},
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
constexpr Shape kCreateGlobalSecondaryIndexAction = Structure(kCreateGlobalSecondaryIndexActionMembers);
constexpr ShapeMember kDeleteGlobalSecondaryIndexActionMembers[] = {{"IndexName", &kIndexName, true}};
constexpr Shape kDeleteGlobalSecondaryIndexAction = Structure(kDeleteGlobalSecondaryIndexActionMembers);
constexpr ShapeMember kUpdateGlobalSecondaryIndexActionMembers[] = {
    {"IndexName", &kIndexName, true},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kUpdateGlobalSecondaryIndexAction = Structure(kUpdateGlobalSecondaryIndexActionMembers);
constexpr ShapeMember kGlobalSecondaryIndexUpdateMembers[] = {{"Create", &kCreateGlobalSecondaryIndexAction},
                                                              {"Delete", &kDeleteGlobalSecondaryIndexAction},
                                                              {"Update", &kUpdateGlobalSecondaryIndexAction}};
constexpr Shape kGlobalSecondaryIndexUpdate = Structure(kGlobalSecondaryIndexUpdateMembers);
constexpr Shape kGlobalSecondaryIndexUpdateList = ListOf(&kGlobalSecondaryIndexUpdate, 0, kMaxDefinitions);
constexpr ShapeMember kUpdateTableInputMembers[] = {
    {"AttributeDefinitions", &kAttributeDefinitions},
    {"BillingMode", &kBillingMode},
    {"DeletionProtectionEnabled", &kAnyBoolean},
    {"DisassociationProtectionEnabled", &kReplication},
    {"GlobalSecondaryIndexUpdates", &kGlobalSecondaryIndexUpdateList},
    {"GlobalTableSettingsReplicationMode", &kReplication},
    {"GlobalTableWitnessUpdates", &kReplication},
    {"MultiRegionConsistency", &kReplication},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"ReplicaUpdates", &kReplication},
    {"SSESpecification", &kSSESpecification},
    {"StreamSpecification", &kStreamSpecification},
    {"TableClass", &kTableClass},
    {"TableName", &kTableArn, true},
    {"VectorIndexUpdates", &kVectorIndexUpdateList},
    {"WarmThroughput", &kWarmThroughput}};
constexpr Shape kResourceArnString = Text(1, 1283);
constexpr ShapeMember kTagResourceInputMembers[] = {{"ResourceArn", &kResourceArnString, true},
                                                    {"Tags", &kTagList, true}};
constexpr Shape kTagKeyList = ListOf(&kTagKeyString, 0, kMaxDefinitions);
constexpr ShapeMember kUntagResourceInputMembers[] = {{"ResourceArn", &kResourceArnString, true},
                                                      {"TagKeys", &kTagKeyList, true}};
constexpr ShapeMember kListTagsOfResourceInputMembers[] = {{"NextToken", &kAnyString},
                                                           {"ResourceArn", &kResourceArnString, true}};
constexpr Shape kTimeToLiveAttributeName = Text(1, 255);
constexpr ShapeMember kTimeToLiveSpecificationMembers[] = {{"AttributeName", &kTimeToLiveAttributeName, true},
                                                           {"Enabled", &kAnyBoolean, true}};
constexpr Shape kTimeToLiveSpecification = Structure(kTimeToLiveSpecificationMembers);
constexpr ShapeMember kUpdateTimeToLiveInputMembers[] = {
    {"TableName", &kTableArn, true}, {"TimeToLiveSpecification", &kTimeToLiveSpecification, true}};
constexpr ShapeMember kDescribeTimeToLiveInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr std::string_view kConditionalOperatorValues[] = {"OR", "AND"};
constexpr Shape kConditionalOperator = OneOf(kConditionalOperatorValues);
constexpr Shape kAttributeValue{.kind = ShapeKind::kAttributeValue};
constexpr Shape kAttributeValueList = ListOf(&kAttributeValue, 0, storage::kMaxLegacyValues);
constexpr std::string_view kComparisonOperatorValues[] = {
    "EQ",      "NE",       "IN",   "LE",       "LT",           "GE",         "GT",
    "BETWEEN", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"};
constexpr Shape kComparisonOperator = OneOf(kComparisonOperatorValues);
constexpr ShapeMember kExpectedAttributeValueMembers[] = {{"AttributeValueList", &kAttributeValueList},
                                                          {"ComparisonOperator", &kComparisonOperator},
                                                          {"Exists", &kAnyBoolean},
                                                          {"Value", &kAttributeValue}};
constexpr Shape kExpectedAttributeValue = Structure(kExpectedAttributeValueMembers);
constexpr Shape kExpectedAttributeMap{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kExpectedAttributeValue};
constexpr Shape kExpressionAttributeNameMap{
    .kind = ShapeKind::kMap, .max = kMaxPlaceholders, .element = &kAnyString};
constexpr Shape kExpressionAttributeValueMap{
    .kind = ShapeKind::kMap, .max = kMaxPlaceholders, .element = &kAttributeValue};
constexpr Shape kAttributeMap{.kind = ShapeKind::kMap, .element = &kAttributeValue};
constexpr std::string_view kReturnConsumedCapacityValues[] = {"INDEXES", "TOTAL", "NONE"};
constexpr Shape kReturnConsumedCapacity = OneOf(kReturnConsumedCapacityValues);
constexpr std::string_view kReturnItemCollectionMetricsValues[] = {"SIZE", "NONE"};
constexpr Shape kReturnItemCollectionMetrics = OneOf(kReturnItemCollectionMetricsValues);
constexpr std::string_view kReturnValueValues[] = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE",
                                                   "UPDATED_NEW"};
constexpr Shape kReturnValue = OneOf(kReturnValueValues);
constexpr std::string_view kReturnValuesOnConditionCheckFailureValues[] = {"ALL_OLD", "NONE"};
constexpr Shape kReturnValuesOnConditionCheckFailure = OneOf(kReturnValuesOnConditionCheckFailureValues);
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
constexpr Shape kAttributeNameList = ListOf(&kAnyString, 1, storage::kMaxLegacyEntries);
constexpr ShapeMember kGetItemInputMembers[] = {{"AttributesToGet", &kAttributeNameList},
                                                {"ConsistentRead", &kAnyBoolean},
                                                {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                                {"Key", &kAttributeMap, true},
                                                {"ProjectionExpression", &kAnyString},
                                                {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                                {"TableName", &kTableArn, true}};
constexpr std::string_view kAttributeActionValues[] = {"ADD", "PUT", "DELETE"};
constexpr Shape kAttributeAction = OneOf(kAttributeActionValues);
constexpr ShapeMember kAttributeValueUpdateMembers[] = {{"Action", &kAttributeAction},
                                                        {"Value", &kAttributeValue}};
constexpr Shape kAttributeValueUpdate = Structure(kAttributeValueUpdateMembers);
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
constexpr Shape kCondition = Structure(kConditionMembers);
constexpr Shape kKeyConditions{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kCondition};
constexpr Shape kPositiveIntegerObject{.kind = ShapeKind::kInteger, .min = 1};
constexpr Shape kFilterConditionMap{
    .kind = ShapeKind::kMap, .max = storage::kMaxLegacyConditions, .element = &kCondition};
constexpr std::string_view kSelectValues[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                              "ALL_PROJECTED_ATTRIBUTES"};
constexpr Shape kSelect = OneOf(kSelectValues);
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
// Storage checks TopK and the vector's length.
constexpr Shape kSearchVector = ListOf(&kAttributeValue, 0, storage::kMaxVectorDimensions * 2);
constexpr Shape kAnyInteger{.kind = ShapeKind::kInteger};
constexpr ShapeMember kSearchVectorsInputMembers[] = {
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"IndexName", &kIndexName, true},
    {"ProjectionExpression", &kAnyString},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"SearchConditionExpression", &kAnyString},
    {"SearchVector", &kSearchVector, true},
    {"TableName", &kTableArn, true},
    {"TopK", &kAnyInteger, true}};
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
constexpr Shape kKeyList{
    .kind = ShapeKind::kList, .min = 1, .max = 100, .element = &kAttributeMap, .is_not_shown = true};
constexpr ShapeMember kKeysAndAttributesMembers[] = {
    {"AttributesToGet", &kAttributeNameList},
    {"ConsistentRead", &kAnyBoolean},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"Keys", &kKeyList, true},
    {"ProjectionExpression", &kAnyString}};
constexpr Shape kKeysAndAttributes = Structure(kKeysAndAttributesMembers);
constexpr Shape kBatchGetRequestMap{.kind = ShapeKind::kMap,
                                    .min = 1,
                                    .max = 100,
                                    .key = &kTableArn,
                                    .element = &kKeysAndAttributes,
                                    .if_empty = "The requestItems parameter is required for BatchGetItem"};
constexpr ShapeMember kBatchGetItemInputMembers[] = {{"RequestItems", &kBatchGetRequestMap, true},
                                                     {"ReturnConsumedCapacity", &kReturnConsumedCapacity}};
constexpr ShapeMember kDeleteRequestMembers[] = {{"Key", &kAttributeMap, true}};
constexpr Shape kDeleteRequest = Structure(kDeleteRequestMembers);
constexpr ShapeMember kPutRequestMembers[] = {{"Item", &kAttributeMap, true}};
constexpr Shape kPutRequest = Structure(kPutRequestMembers);
constexpr ShapeMember kWriteRequestMembers[] = {{"DeleteRequest", &kDeleteRequest},
                                                {"PutRequest", &kPutRequest}};
constexpr Shape kWriteRequest = Structure(kWriteRequestMembers, "WriteRequest");
constexpr Shape kWriteRequests = ListOf(&kWriteRequest, 1, 25);
constexpr Shape kBatchWriteItemRequestMap{
    .kind = ShapeKind::kMap,
    .min = 1,
    .max = 25,
    .key = &kTableArn,
    .element = &kWriteRequests,
    .if_empty = "The requestItems parameter is required for BatchWriteItem"};
constexpr ShapeMember kBatchWriteItemInputMembers[] = {
    {"RequestItems", &kBatchWriteItemRequestMap, true},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics}};
constexpr Shape kClientRequestToken = Text(1, 36);
constexpr ShapeMember kConditionCheckMembers[] = {
    {"ConditionExpression", &kAnyString, true},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kConditionCheck = Structure(kConditionCheckMembers);
constexpr ShapeMember kDeleteMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kDelete = Structure(kDeleteMembers);
constexpr ShapeMember kPutMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Item", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true}};
constexpr Shape kPut = Structure(kPutMembers);
constexpr ShapeMember kUpdateMembers[] = {
    {"ConditionExpression", &kAnyString},
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"Key", &kAttributeMap, true},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"TableName", &kTableArn, true},
    {"UpdateExpression", &kAnyString, true}};
constexpr Shape kUpdate = Structure(kUpdateMembers);
constexpr ShapeMember kTransactWriteItemMembers[] = {
    {"ConditionCheck", &kConditionCheck}, {"Delete", &kDelete}, {"Put", &kPut}, {"Update", &kUpdate}};
constexpr Shape kTransactWriteItem = Structure(kTransactWriteItemMembers);
constexpr Shape kTransactWriteItemList = ListOf(&kTransactWriteItem, 1, 100);
constexpr ShapeMember kTransactWriteItemsInputMembers[] = {
    {"ClientRequestToken", &kClientRequestToken},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"ReturnItemCollectionMetrics", &kReturnItemCollectionMetrics},
    {"TransactItems", &kTransactWriteItemList, true}};
constexpr ShapeMember kGetMembers[] = {{"ExpressionAttributeNames", &kExpressionAttributeNameMap},
                                       {"Key", &kAttributeMap, true},
                                       {"ProjectionExpression", &kAnyString},
                                       {"TableName", &kTableArn, true}};
constexpr Shape kGet = Structure(kGetMembers);
constexpr ShapeMember kTransactGetItemMembers[] = {{"Get", &kGet, true}};
constexpr Shape kTransactGetItem = Structure(kTransactGetItemMembers);
constexpr Shape kTransactGetItemList = ListOf(&kTransactGetItem, 1, 100);
constexpr ShapeMember kTransactGetItemsInputMembers[] = {{"ReturnConsumedCapacity", &kReturnConsumedCapacity},
                                                         {"TransactItems", &kTransactGetItemList, true}};
constexpr Shape kPartiQLNextToken = Text(1, 32768);
constexpr Shape kPreparedStatementParameters = ListOf(&kAttributeValue, 1, storage::kMaxStatementCharacters);
constexpr Shape kPartiQLStatement = Text(1, 8192);
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
constexpr Shape kBatchStatementRequest = Structure(kBatchStatementRequestMembers);
constexpr Shape kPartiQLBatchRequest = ListOf(&kBatchStatementRequest, 1, 25);
constexpr ShapeMember kBatchExecuteStatementInputMembers[] = {
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity}, {"Statements", &kPartiQLBatchRequest, true}};
constexpr ShapeMember kParameterizedStatementMembers[] = {
    {"Parameters", &kPreparedStatementParameters},
    {"ReturnValuesOnConditionCheckFailure", &kReturnValuesOnConditionCheckFailure},
    {"Statement", &kPartiQLStatement, true}};
constexpr Shape kParameterizedStatement = Structure(kParameterizedStatementMembers);
constexpr Shape kParameterizedStatements = ListOf(&kParameterizedStatement, 1, 100);
constexpr ShapeMember kExecuteTransactionInputMembers[] = {
    {"ClientRequestToken", &kClientRequestToken},
    {"ReturnConsumedCapacity", &kReturnConsumedCapacity},
    {"TransactStatements", &kParameterizedStatements, true}};

// ---- backups of tables

constexpr ShapeMember kDescribeContinuousBackupsInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr Shape kRecoveryPeriodInDays{.kind = ShapeKind::kInteger, .min = 1, .max = 35};
constexpr ShapeMember kPointInTimeRecoverySpecificationMembers[] = {
    {"PointInTimeRecoveryEnabled", &kAnyBoolean, true}, {"RecoveryPeriodInDays", &kRecoveryPeriodInDays}};
constexpr Shape kPointInTimeRecoverySpecification = Structure(kPointInTimeRecoverySpecificationMembers);
constexpr ShapeMember kUpdateContinuousBackupsInputMembers[] = {
    {"PointInTimeRecoverySpecification", &kPointInTimeRecoverySpecification, true},
    {"TableName", &kTableArn, true}};
constexpr Shape kBackupName{.kind = ShapeKind::kString, .min = 3, .max = 255, .pattern = "[a-zA-Z0-9_.-]+"};
constexpr ShapeMember kCreateBackupInputMembers[] = {{"BackupName", &kBackupName, true},
                                                     {"TableName", &kTableArn, true}};
constexpr Shape kBackupArn = Text(37, 1024);
constexpr ShapeMember kDescribeBackupInputMembers[] = {{"BackupArn", &kBackupArn, true}};
constexpr ShapeMember kDeleteBackupInputMembers[] = {{"BackupArn", &kBackupArn, true}};
constexpr std::string_view kBackupTypeFilterValues[] = {"USER", "SYSTEM", "AWS_BACKUP", "ALL"};
constexpr Shape kBackupTypeFilter = OneOf(kBackupTypeFilterValues);
constexpr Shape kUpTo100{.kind = ShapeKind::kInteger, .min = 1, .max = 100};
constexpr Shape kTimestamp{.kind = ShapeKind::kTimestamp};
constexpr ShapeMember kListBackupsInputMembers[] = {{"BackupType", &kBackupTypeFilter},
                                                    {"ExclusiveStartBackupArn", &kBackupArn},
                                                    {"Limit", &kUpTo100},
                                                    {"TableName", &kTableArn},
                                                    {"TimeRangeLowerBound", &kTimestamp},
                                                    {"TimeRangeUpperBound", &kTimestamp}};
constexpr ShapeMember kRestoreTableFromBackupInputMembers[] = {
    {"BackupArn", &kBackupArn, true},
    {"BillingModeOverride", &kBillingMode},
    {"GlobalSecondaryIndexOverride", &kGlobalSecondaryIndexList},
    {"LocalSecondaryIndexOverride", &kLocalSecondaryIndexList},
    {"OnDemandThroughputOverride", &kOnDemandThroughput},
    {"ProvisionedThroughputOverride", &kProvisionedThroughput},
    {"SSESpecificationOverride", &kSSESpecification},
    {"TargetTableName", &kTableName, true},
    {"VectorIndexOverride", &kVectorIndexList}};
constexpr ShapeMember kRestoreTableToPointInTimeInputMembers[] = {
    {"BillingModeOverride", &kBillingMode},
    {"GlobalSecondaryIndexOverride", &kGlobalSecondaryIndexList},
    {"LocalSecondaryIndexOverride", &kLocalSecondaryIndexList},
    {"OnDemandThroughputOverride", &kOnDemandThroughput},
    {"ProvisionedThroughputOverride", &kProvisionedThroughput},
    {"RestoreDateTime", &kTimestamp},
    {"SSESpecificationOverride", &kSSESpecification},
    {"SourceTableArn", &kTableArn},
    {"SourceTableName", &kTableName},
    {"TargetTableName", &kTableName, true},
    {"UseLatestRestorableTime", &kAnyBoolean},
    {"VectorIndexOverride", &kVectorIndexList}};

// ---- exports of tables

// Storage checks the ARN of the table, the name of the bucket and the owner (XPT-02).
constexpr Shape kArnText{.kind = ShapeKind::kString, .max = 1024};
constexpr Shape kBucket{.kind = ShapeKind::kString, .max = 255};
constexpr Shape kUpTo1024{.kind = ShapeKind::kString, .max = 1024};
constexpr std::string_view kExportFormatValues[] = {"DYNAMODB_JSON", "ION"};
constexpr Shape kExportFormat = OneOf(kExportFormatValues);
constexpr std::string_view kExportTypeValues[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT"};
constexpr Shape kExportType = OneOf(kExportTypeValues);
constexpr std::string_view kExportViewTypeValues[] = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"};
constexpr Shape kExportViewType = OneOf(kExportViewTypeValues);
constexpr std::string_view kBucketEncryptionValues[] = {"AES256", "KMS"};
constexpr Shape kBucketEncryption = OneOf(kBucketEncryptionValues);
constexpr Shape kBucketKeyId = Text(1, 2048);
constexpr ShapeMember kIncrementalExportSpecificationMembers[] = {
    {"ExportFromTime", &kTimestamp}, {"ExportToTime", &kTimestamp}, {"ExportViewType", &kExportViewType}};
constexpr Shape kIncrementalExportSpecification = Structure(kIncrementalExportSpecificationMembers);
constexpr ShapeMember kFilterSpecificationMembers[] = {
    {"ExpressionAttributeNames", &kExpressionAttributeNameMap},
    {"ExpressionAttributeValues", &kExpressionAttributeValueMap},
    {"FilterExpression", &kAnyString},
    {"KeyConditionExpression", &kAnyString},
    {"ProjectionExpression", &kAnyString}};
constexpr Shape kFilterSpecification = Structure(kFilterSpecificationMembers);
constexpr ShapeMember kExportTableToPointInTimeInputMembers[] = {
    {"ClientToken", &kAnyString},
    {"ExportFormat", &kExportFormat},
    {"ExportTime", &kTimestamp},
    {"ExportType", &kExportType},
    {"FilterSpecification", &kFilterSpecification},
    {"IncrementalExportSpecification", &kIncrementalExportSpecification},
    {"S3Bucket", &kBucket, true},
    {"S3BucketOwner", &kAnyString},
    {"S3Prefix", &kUpTo1024},
    {"S3SseAlgorithm", &kBucketEncryption},
    {"S3SseKmsKeyId", &kBucketKeyId},
    {"TableArn", &kArnText, true}};
constexpr Shape kExportArn = Text(37, 1024);
constexpr ShapeMember kDescribeExportInputMembers[] = {{"ExportArn", &kExportArn, true}};
constexpr Shape kUpTo25{.kind = ShapeKind::kInteger, .min = 1, .max = 25};
constexpr ShapeMember kListExportsInputMembers[] = {
    {"MaxResults", &kUpTo25}, {"NextToken", &kAnyString}, {"TableArn", &kArnText}};

// ---- imports. Storage checks bucket, prefix, delimiter and token.

constexpr ShapeMember kS3BucketSourceMembers[] = {
    {"S3Bucket", &kAnyString, true}, {"S3BucketOwner", &kAnyString}, {"S3KeyPrefix", &kAnyString}};
constexpr Shape kS3BucketSource = Structure(kS3BucketSourceMembers);
constexpr std::string_view kInputFormatValues[] = {"DYNAMODB_JSON", "ION", "CSV"};
constexpr Shape kInputFormat = OneOf(kInputFormatValues);
constexpr std::string_view kInputCompressionTypeValues[] = {"GZIP", "ZSTD", "NONE"};
constexpr Shape kInputCompressionType = OneOf(kInputCompressionTypeValues);
constexpr Shape kCsvDelimiter = Text(1, 1);
constexpr Shape kCsvHeader = Text(1, 65'536);
constexpr Shape kCsvHeaderList = ListOf(&kCsvHeader, 1, 255);
constexpr ShapeMember kCsvOptionsMembers[] = {{"Delimiter", &kCsvDelimiter}, {"HeaderList", &kCsvHeaderList}};
constexpr Shape kCsvOptions = Structure(kCsvOptionsMembers);
constexpr ShapeMember kInputFormatOptionsMembers[] = {{"Csv", &kCsvOptions}};
constexpr Shape kInputFormatOptions = Structure(kInputFormatOptionsMembers);
constexpr ShapeMember kTableCreationParametersMembers[] = {
    {"AttributeDefinitions", &kAttributeDefinitions, true},
    {"BillingMode", &kBillingMode},
    {"GlobalSecondaryIndexes", &kGlobalSecondaryIndexList},
    {"KeySchema", &kKeySchema, true},
    {"OnDemandThroughput", &kOnDemandThroughput},
    {"ProvisionedThroughput", &kProvisionedThroughput},
    {"SSESpecification", &kSSESpecification},
    {"TableName", &kTableName, true},
    {"VectorIndexes", &kVectorIndexList}};
constexpr Shape kTableCreationParameters = Structure(kTableCreationParametersMembers);
constexpr ShapeMember kImportTableInputMembers[] = {
    {"ClientToken", &kAnyString},
    {"InputCompressionType", &kInputCompressionType},
    {"InputFormat", &kInputFormat, true},
    {"InputFormatOptions", &kInputFormatOptions},
    {"S3BucketSource", &kS3BucketSource, true},
    {"TableCreationParameters", &kTableCreationParameters, true}};
constexpr Shape kImportArn = Text(37, 1024);
constexpr ShapeMember kDescribeImportInputMembers[] = {{"ImportArn", &kImportArn, true}};
constexpr ShapeMember kListImportsInputMembers[] = {
    {"NextToken", &kAnyString}, {"PageSize", &kUpTo25}, {"TableArn", &kTableArn}};

// ---- bulk puts. Storage checks buckets, prefixes and the token.

constexpr std::string_view kBulkInputFormatValues[] = {"DYNAMODB_JSON", "ION"};
constexpr Shape kBulkInputFormat = OneOf(kBulkInputFormatValues);
constexpr ShapeMember kInputS3ConfigurationMembers[] = {{"InputCompressionType", &kInputCompressionType},
                                                        {"InputFormat", &kBulkInputFormat, true},
                                                        {"S3Bucket", &kAnyString, true},
                                                        {"S3BucketOwner", &kAnyString},
                                                        {"S3KeyPrefix", &kAnyString}};
constexpr Shape kInputS3Configuration = Structure(kInputS3ConfigurationMembers);
constexpr std::string_view kBulkOutputTypeValues[] = {"ERROR", "CONDITION_CHECK_FAILURE"};
constexpr Shape kBulkOutputType = OneOf(kBulkOutputTypeValues);
constexpr Shape kBulkOutputTypeList{.kind = ShapeKind::kList, .element = &kBulkOutputType};
constexpr ShapeMember kOutputS3ConfigurationMembers[] = {{"OutputType", &kBulkOutputTypeList, true},
                                                         {"S3Bucket", &kAnyString},
                                                         {"S3BucketOwner", &kAnyString},
                                                         {"S3KeyPrefix", &kAnyString},
                                                         {"S3SseAlgorithm", &kBucketEncryption},
                                                         {"S3SseKmsKeyId", &kBucketKeyId}};
constexpr Shape kOutputS3Configuration = Structure(kOutputS3ConfigurationMembers);
constexpr Shape kBulkWriteUnits{.kind = ShapeKind::kLong, .min = 1'024};
constexpr std::string_view kBulkPerformanceTierValues[] = {"STANDARD", "ACCELERATED"};
constexpr Shape kBulkPerformanceTier = OneOf(kBulkPerformanceTierValues);
constexpr ShapeMember kStartBulkPutItemsInputMembers[] = {
    {"ClientToken", &kAnyString},
    {"InputS3Configuration", &kInputS3Configuration, true},
    {"MaxWriteRequestUnits", &kBulkWriteUnits},
    {"OutputS3Configuration", &kOutputS3Configuration, true},
    {"PerformanceTier", &kBulkPerformanceTier},
    {"TableName", &kTableArn, true}};
constexpr Shape kBulkOperationArn = Text(37, 1024);
constexpr ShapeMember kDescribeBulkOperationInputMembers[] = {{"BulkOperationArn", &kBulkOperationArn, true}};
constexpr ShapeMember kCancelBulkOperationInputMembers[] = {{"BulkOperationArn", &kBulkOperationArn, true}};
constexpr Shape kBulkNextToken = Text(1, 1024);
constexpr ShapeMember kListBulkOperationsInputMembers[] = {{"MaxResults", &kUpTo25},
                                                           {"NextToken", &kBulkNextToken}};

// ---- contributor insights

constexpr std::string_view kContributorInsightsActionValues[] = {"ENABLE", "DISABLE"};
constexpr Shape kContributorInsightsAction = OneOf(kContributorInsightsActionValues);
constexpr std::string_view kContributorInsightsModeValues[] = {"ACCESSED_AND_THROTTLED_KEYS",
                                                               "THROTTLED_KEYS"};
constexpr Shape kContributorInsightsMode = OneOf(kContributorInsightsModeValues);
constexpr ShapeMember kUpdateContributorInsightsInputMembers[] = {
    {"ContributorInsightsAction", &kContributorInsightsAction, true},
    {"ContributorInsightsMode", &kContributorInsightsMode},
    {"IndexName", &kIndexName},
    {"TableName", &kTableArn, true}};
constexpr ShapeMember kDescribeContributorInsightsInputMembers[] = {{"IndexName", &kIndexName},
                                                                    {"TableName", &kTableArn, true}};
constexpr Shape kAtMost100{.kind = ShapeKind::kInteger, .max = 100};
constexpr ShapeMember kListContributorInsightsInputMembers[] = {
    {"MaxResults", &kAtMost100}, {"NextToken", &kAnyString}, {"TableName", &kTableArn}};

// ---- features that are not offered: the requests that ask whether they are on

constexpr ShapeMember kDescribeKinesisStreamingDestinationInputMembers[] = {{"TableName", &kTableArn, true}};
constexpr ShapeMember kListGlobalTablesInputMembers[] = {{"ExclusiveStartGlobalTableName", &kTableName},
                                                         {"Limit", &kPositiveIntegerObject},
                                                         {"RegionName", &kAnyString}};
constexpr ShapeMember kGetResourcePolicyInputMembers[] = {{"ResourceArn", &kResourceArnString, true}};
constexpr Shape kPolicyRevisionId = Text(1, 255);
constexpr ShapeMember kDeleteResourcePolicyInputMembers[] = {{"ExpectedRevisionId", &kPolicyRevisionId},
                                                             {"ResourceArn", &kResourceArnString, true}};

constexpr Shape kStreamArn = Text(37, 1024);
constexpr Shape kShardId = Text(28, 65);
constexpr Shape kSequenceNumber = Text(21, 40);
constexpr Shape kShardIterator = Text(1, 2048);
constexpr std::string_view kShardFilterTypeValues[] = {"CHILD_SHARDS"};
constexpr Shape kShardFilterType = OneOf(kShardFilterTypeValues);
constexpr ShapeMember kShardFilterMembers[] = {{"ShardId", &kShardId}, {"Type", &kShardFilterType}};
constexpr Shape kShardFilter = Structure(kShardFilterMembers);
constexpr std::string_view kShardIteratorTypeValues[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                                         "AFTER_SEQUENCE_NUMBER"};
constexpr Shape kShardIteratorType = OneOf(kShardIteratorTypeValues);
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

constexpr Shape kCreateTableInput = Structure(kCreateTableInputMembers);
constexpr Shape kDeleteTableInput = Structure(kDeleteTableInputMembers);
constexpr Shape kDescribeTableInput = Structure(kDescribeTableInputMembers);
constexpr Shape kListTablesInput = Structure(kListTablesInputMembers);
constexpr Shape kUpdateTableInput = Structure(kUpdateTableInputMembers);
constexpr Shape kDescribeLimitsInput{.kind = ShapeKind::kStructure};
constexpr Shape kDescribeEndpointsRequest{.kind = ShapeKind::kStructure};
constexpr Shape kTagResourceInput = Structure(kTagResourceInputMembers);
constexpr Shape kUntagResourceInput = Structure(kUntagResourceInputMembers);
constexpr Shape kListTagsOfResourceInput = Structure(kListTagsOfResourceInputMembers);
constexpr Shape kUpdateTimeToLiveInput = Structure(kUpdateTimeToLiveInputMembers);
constexpr Shape kDescribeTimeToLiveInput = Structure(kDescribeTimeToLiveInputMembers);
constexpr Shape kPutItemInput = Structure(kPutItemInputMembers);
constexpr Shape kGetItemInput = Structure(kGetItemInputMembers);
constexpr Shape kUpdateItemInput = Structure(kUpdateItemInputMembers);
constexpr Shape kDeleteItemInput = Structure(kDeleteItemInputMembers);
constexpr Shape kQueryInput = Structure(kQueryInputMembers);
constexpr Shape kScanInput = Structure(kScanInputMembers);
constexpr Shape kSearchVectorsInput = Structure(kSearchVectorsInputMembers);
constexpr Shape kBatchGetItemInput = Structure(kBatchGetItemInputMembers);
constexpr Shape kBatchWriteItemInput = Structure(kBatchWriteItemInputMembers);
constexpr Shape kTransactWriteItemsInput = Structure(kTransactWriteItemsInputMembers);
constexpr Shape kTransactGetItemsInput = Structure(kTransactGetItemsInputMembers);
constexpr Shape kExecuteStatementInput = Structure(kExecuteStatementInputMembers);
constexpr Shape kBatchExecuteStatementInput = Structure(kBatchExecuteStatementInputMembers);
constexpr Shape kExecuteTransactionInput = Structure(kExecuteTransactionInputMembers);
constexpr Shape kDescribeContinuousBackupsInput = Structure(kDescribeContinuousBackupsInputMembers);
constexpr Shape kUpdateContinuousBackupsInput = Structure(kUpdateContinuousBackupsInputMembers);
constexpr Shape kCreateBackupInput = Structure(kCreateBackupInputMembers);
constexpr Shape kDescribeBackupInput = Structure(kDescribeBackupInputMembers);
constexpr Shape kListBackupsInput = Structure(kListBackupsInputMembers);
constexpr Shape kDeleteBackupInput = Structure(kDeleteBackupInputMembers);
constexpr Shape kRestoreTableFromBackupInput = Structure(kRestoreTableFromBackupInputMembers);
constexpr Shape kRestoreTableToPointInTimeInput = Structure(kRestoreTableToPointInTimeInputMembers);
constexpr Shape kExportTableToPointInTimeInput = Structure(kExportTableToPointInTimeInputMembers);
constexpr Shape kDescribeExportInput = Structure(kDescribeExportInputMembers);
constexpr Shape kListExportsInput = Structure(kListExportsInputMembers);
constexpr Shape kImportTableInput = Structure(kImportTableInputMembers);
constexpr Shape kDescribeImportInput = Structure(kDescribeImportInputMembers);
constexpr Shape kListImportsInput = Structure(kListImportsInputMembers);
constexpr Shape kStartBulkPutItemsInput = Structure(kStartBulkPutItemsInputMembers);
constexpr Shape kDescribeBulkOperationInput = Structure(kDescribeBulkOperationInputMembers);
constexpr Shape kListBulkOperationsInput = Structure(kListBulkOperationsInputMembers);
constexpr Shape kCancelBulkOperationInput = Structure(kCancelBulkOperationInputMembers);
constexpr Shape kUpdateContributorInsightsInput = Structure(kUpdateContributorInsightsInputMembers);
constexpr Shape kDescribeContributorInsightsInput = Structure(kDescribeContributorInsightsInputMembers);
constexpr Shape kListContributorInsightsInput = Structure(kListContributorInsightsInputMembers);
constexpr Shape kDescribeKinesisStreamingDestinationInput =
    Structure(kDescribeKinesisStreamingDestinationInputMembers);
constexpr Shape kListGlobalTablesInput = Structure(kListGlobalTablesInputMembers);
constexpr Shape kGetResourcePolicyInput = Structure(kGetResourcePolicyInputMembers);
constexpr Shape kDeleteResourcePolicyInput = Structure(kDeleteResourcePolicyInputMembers);
constexpr Shape kListStreamsInput = Structure(kListStreamsInputMembers);
constexpr Shape kDescribeStreamInput = Structure(kDescribeStreamInputMembers);
constexpr Shape kGetShardIteratorInput = Structure(kGetShardIteratorInputMembers);
constexpr Shape kGetRecordsInput = Structure(kGetRecordsInputMembers);

}  // namespace itemdb::http
