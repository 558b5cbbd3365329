// AWS SDK for Go v2 as a client of itemd's HTTP endpoint: the order-entry patterns, documents, conditions,
// transactions, pages, a parallel scan, waiters and errors.
//
// go run go_sdk.go: prints "FAILED" and what differs for each check that fails; the exit code is then 1.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

var (
	background = context.Background()
	client     *dynamodb.Client
	failed     bool
)

func check(what string, is, expected interface{}) {
	if !reflect.DeepEqual(is, expected) {
		failed = true
		fmt.Printf("FAILED %s:\n  is       %s\n  expected %s\n", what, shown(is), shown(expected))
	}
}

// As JSON, which has what attribute values point to.
func shown(value interface{}) string {
	if err, ok := value.(error); ok {
		return err.Error()
	}
	return string(must(json.Marshal(value)))
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("FAILED", err)
		os.Exit(1)
	}
	return value
}

// The SDK's shapes have the members' names, except that attribute values are an interface.
func read(path string) []byte {
	return must(os.ReadFile(filepath.Join(os.Getenv("ITEMDB_ORDER_ENTRY"), path)))
}

func value(parsed interface{}) types.AttributeValue {
	for kind, contents := range parsed.(map[string]interface{}) {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: contents.(string)}
		case "N":
			return &types.AttributeValueMemberN{Value: contents.(string)}
		case "B":
			return &types.AttributeValueMemberB{Value: must(base64.StdEncoding.DecodeString(contents.(string)))}
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: contents.(bool)}
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: contents.(bool)}
		case "SS":
			return &types.AttributeValueMemberSS{Value: texts(contents)}
		case "NS":
			return &types.AttributeValueMemberNS{Value: texts(contents)}
		case "M":
			return &types.AttributeValueMemberM{Value: items(contents)}
		case "L":
			list := []types.AttributeValue{}
			for _, element := range contents.([]interface{}) {
				list = append(list, value(element))
			}
			return &types.AttributeValueMemberL{Value: list}
		}
	}
	panic(fmt.Sprint("no attribute value: ", parsed))
}

func texts(parsed interface{}) []string {
	var list []string
	for _, element := range parsed.([]interface{}) {
		list = append(list, element.(string))
	}
	return list
}

func items(parsed interface{}) item {
	result := item{}
	for name, element := range parsed.(map[string]interface{}) {
		result[name] = value(element)
	}
	return result
}

// Decodes a request of the JSON protocol. The members `maps` hold attribute values.
func request(text json.RawMessage, into interface{}, maps map[string]*item) {
	var members map[string]json.RawMessage
	must(0, json.Unmarshal(text, &members))
	for name, target := range maps {
		if part, ok := members[name]; ok {
			var parsed interface{}
			must(0, json.Unmarshal(part, &parsed))
			*target = items(parsed)
			delete(members, name)
		}
	}
	must(0, json.Unmarshal(must(json.Marshal(members)), into))
}

func create(input *dynamodb.CreateTableInput) {
	must(client.CreateTable(background, input))
	must(0, dynamodb.NewTableExistsWaiter(client).Wait(
		background, &dynamodb.DescribeTableInput{TableName: input.TableName}, time.Minute))
}

func deleteTable(name string) {
	must(client.DeleteTable(background, &dynamodb.DeleteTableInput{TableName: &name}))
	must(0, dynamodb.NewTableNotExistsWaiter(client).Wait(
		background, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute))
}

func orderEntry() {
	for _, name := range []string{"Customer", "Employee", "Order", "Product"} {
		var input dynamodb.CreateTableInput
		must(0, json.Unmarshal(read(name+".table.json"), &input))
		create(&input)
		defer deleteTable(name)
		file := must(os.Open(filepath.Join(os.Getenv("ITEMDB_ORDER_ENTRY"), name+".items.jsonl")))
		defer file.Close()
		var writes []types.WriteRequest
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var parsed interface{}
			must(0, json.Unmarshal(lines.Bytes(), &parsed))
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: items(parsed)}})
		}
		for len(writes) > 0 {
			count := len(writes)
			if count > 25 {
				count = 25
			}
			written := must(client.BatchWriteItem(background, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{name: writes[:count]}}))
			check("unprocessed items", len(written.UnprocessedItems), 0)
			writes = writes[count:]
		}
	}
	var patterns []struct {
		Pattern  int
		Name     string
		Requests []struct {
			Operation string
			Request   json.RawMessage
		}
		Items []interface{}
	}
	must(0, json.Unmarshal(read("patterns.json"), &patterns))
	for _, pattern := range patterns {
		found := []item{}
		for _, asked := range pattern.Requests {
			switch asked.Operation {
			case "GetItem":
				var input dynamodb.GetItemInput
				request(asked.Request, &input, map[string]*item{"Key": &input.Key})
				if output := must(client.GetItem(background, &input)); output.Item != nil {
					found = append(found, output.Item)
				}
			case "Query":
				var input dynamodb.QueryInput
				request(asked.Request, &input, map[string]*item{
					"ExpressionAttributeValues": &input.ExpressionAttributeValues,
					"ExclusiveStartKey":         &input.ExclusiveStartKey})
				found = append(found, must(client.Query(background, &input)).Items...)
			default:
				panic("a pattern of examples/order_entry needs " + asked.Operation)
			}
		}
		expected := []item{}
		for _, one := range pattern.Items {
			expected = append(expected, items(one))
		}
		check(fmt.Sprint("pattern ", pattern.Pattern, ", ", pattern.Name), found, expected)
	}
	check("patterns", len(patterns) > 10, true)
}

type document struct {
	Pk      string            `dynamodbav:"pk"`
	Sk      int               `dynamodbav:"sk"`
	Text    string            `dynamodbav:"text"`
	Bytes   []byte            `dynamodbav:"bytes"`
	Tags    []string          `dynamodbav:"tags,stringset"`
	Numbers []float64         `dynamodbav:"numbers"`
	Nested  map[string]string `dynamodbav:"nested"`
	Version int               `dynamodbav:"version"`
}

func documents() {
	name := aws.String("documents")
	create(&dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}}})
	defer deleteTable(*name)
	put := func(one document) {
		must(client.PutItem(background, &dynamodb.PutItemInput{
			TableName: name, Item: must(attributevalue.MarshalMap(one))}))
	}

	written := document{Pk: "types", Sk: -12, Text: "Zürich \u0001 \"\\/", Bytes: []byte{0, 255},
		Tags: []string{"a", "b"}, Numbers: []float64{1.5, -2e20}, Nested: map[string]string{"k": ""}, Version: 1}
	put(written)
	key := item{"pk": must(attributevalue.Marshal("types")), "sk": must(attributevalue.Marshal(-12))}
	got := must(client.GetItem(background, &dynamodb.GetItemInput{
		TableName: name, Key: key, ConsistentRead: aws.Bool(true)}))
	var readBack document
	must(0, attributevalue.UnmarshalMap(got.Item, &readBack))
	check("a struct written and read", readBack, written)

	// A condition that fails, and one that holds.
	update := func(version int) (*dynamodb.UpdateItemOutput, error) {
		built := must(expression.NewBuilder().
			WithCondition(expression.Name("version").Equal(expression.Value(version))).
			WithUpdate(expression.Add(expression.Name("version"), expression.Value(1))).Build())
		return client.UpdateItem(background, &dynamodb.UpdateItemInput{
			TableName: name, Key: key, ConditionExpression: built.Condition(), UpdateExpression: built.Update(),
			ExpressionAttributeNames: built.Names(), ExpressionAttributeValues: built.Values(),
			ReturnValues: types.ReturnValueUpdatedNew})
	}
	check("a condition that holds", must(update(1)).Attributes, item{"version": must(attributevalue.Marshal(2))})
	_, err := update(1)
	var conditionFailed *types.ConditionalCheckFailedException
	check("a condition that fails", errors.As(err, &conditionFailed), true)

	// A transaction that is cancelled, with its reasons.
	_, err = client.TransactWriteItems(background, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: name, Item: must(attributevalue.MarshalMap(document{Pk: "new"}))}},
			{ConditionCheck: &types.ConditionCheck{TableName: name, Key: key,
				ConditionExpression: aws.String("attribute_not_exists(pk)")}}}})
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		check("reasons", []string{*cancelled.CancellationReasons[0].Code, *cancelled.CancellationReasons[1].Code},
			[]string{"None", "ConditionalCheckFailed"})
	} else {
		check("a transaction that is cancelled", err, "TransactionCanceledException")
	}

	// Pages of a query, and a parallel scan.
	const count = 100
	var expected []int
	for number := 0; number < count; number++ {
		put(document{Pk: "pages", Sk: number})
		expected = append(expected, number)
	}
	built := must(expression.NewBuilder().WithKeyCondition(
		expression.Key("pk").Equal(expression.Value("pages"))).Build())
	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName: name, Limit: aws.Int32(7), KeyConditionExpression: built.KeyCondition(),
		ExpressionAttributeNames: built.Names(), ExpressionAttributeValues: built.Values()})
	var found []int
	for pages.HasMorePages() {
		var page []document
		must(0, attributevalue.UnmarshalListOfMaps(must(pages.NextPage(background)).Items, &page))
		for _, one := range page {
			found = append(found, one.Sk)
		}
	}
	check("pages of a query", found, expected)
	const segments = 4
	scanned := make(chan []int, segments)
	for segment := int32(0); segment < segments; segment++ {
		go func(segment int32) {
			pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
				TableName: name, Limit: aws.Int32(5), Segment: aws.Int32(segment), TotalSegments: aws.Int32(segments)})
			var found []int
			for pages.HasMorePages() {
				var page []document
				must(0, attributevalue.UnmarshalListOfMaps(must(pages.NextPage(background)).Items, &page))
				for _, one := range page {
					if one.Pk == "pages" {
						found = append(found, one.Sk)
					}
				}
			}
			scanned <- found
		}(segment)
	}
	found = nil
	for segment := 0; segment < segments; segment++ {
		found = append(found, <-scanned...)
	}
	sort.Ints(found)
	check("a parallel scan", found, expected)

	// A statement, and errors.
	statement := must(client.ExecuteStatement(background, &dynamodb.ExecuteStatementInput{
		Statement:  aws.String(`SELECT sk FROM "documents" WHERE pk = ? AND sk >= 98`),
		Parameters: []types.AttributeValue{must(attributevalue.Marshal("pages"))}}))
	check("a statement", len(statement.Items), 2)
	_, err = client.GetItem(background, &dynamodb.GetItemInput{TableName: aws.String("nope"), Key: key})
	var notFound *types.ResourceNotFoundException
	check("a table that is missing", errors.As(err, &notFound), true)
}

func main() {
	address := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	settings := must(config.LoadDefaultConfig(background))
	client = dynamodb.NewFromConfig(settings, dynamodb.WithEndpointResolver(dynamodb.EndpointResolverFromURL(address)))
	orderEntry()
	documents()
	if failed {
		os.Exit(1)
	}
	fmt.Println("every check holds")
}
