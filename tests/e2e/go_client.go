// Makes the calls that it reads from stdin with Go's gRPC library, and prints the errors as that library decodes them.
//
// stdin, a line a call:  <full method> <hex of the request>
// stdout, a line a call: {"method": ..., "code": ..., "message": ..., "reason": ..., "domain": ...}; without an error the
// code is 0. The reason is empty if the details hold no ErrorInfo.
//
// Argument: the daemon's endpoint.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Sends and receives bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(message interface{}) ([]byte, error) { return *message.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, message interface{}) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (bytesCodec) Name() string { return "proto" }

func call(connection *grpc.ClientConn, method string, request []byte) map[string]interface{} {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var reply []byte
	err := connection.Invoke(ctx, "/"+method, &request, &reply, grpc.ForceCodec(bytesCodec{}))
	decoded := status.Convert(err)
	answer := map[string]interface{}{
		"method": method, "code": int(decoded.Code()), "message": decoded.Message(), "reason": "", "domain": ""}
	for _, detail := range decoded.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			answer["reason"] = info.GetReason()
			answer["domain"] = info.GetDomain()
		}
	}
	return answer
}

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer connection.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text()+" ", " ")
		request, err := hex.DecodeString(words[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		json.NewEncoder(os.Stdout).Encode(call(connection, words[0], request))
	}
}
