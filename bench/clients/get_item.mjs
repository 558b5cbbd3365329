// GetItem by the AWS SDK for JavaScript v3, for run.py: get_item.mjs ENDPOINT CALLERS SECONDS, as get_item.cc.
import http from "node:http";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { NodeHttpHandler } from "@smithy/node-http-handler";

const ITEMS = 1000;
const [endpoint, callerText, secondText] = process.argv.slice(2);
const callers = Number(callerText);
const seconds = Number(secondText);
const client = new DynamoDBClient({
  endpoint,
  requestHandler: new NodeHttpHandler({ httpAgent: new http.Agent({ keepAlive: true, maxSockets: callers }) }),
});

async function read(first, howLong, latencies) {
  const end = performance.now() + howLong * 1000;
  for (let number = first; ; number++) {
    const begin = performance.now();
    if (begin >= end) return;
    const found = await client.send(
      new GetItemCommand({ TableName: "Bench", Key: { id: { S: `item${number % ITEMS}` } }, ConsistentRead: true }),
    );
    if (found.Item === undefined) throw new Error("no item");
    latencies.push((performance.now() - begin) * 1000);
  }
}

async function readByAll(howLong) {
  const latencies = [];
  await Promise.all(Array.from({ length: callers }, (_, caller) => read(caller * 37, howLong, latencies)));
  return latencies.sort((a, b) => a - b);
}

await readByAll(seconds / 5);
const cpu = process.cpuUsage();
const start = performance.now();
const latencies = await readByAll(seconds);
const took = (performance.now() - start) / 1000;
const used = process.cpuUsage(cpu);
console.log(
  JSON.stringify({
    rate: latencies.length / took,
    p50_us: latencies[Math.floor(latencies.length / 2)],
    p99_us: latencies[Math.floor((latencies.length * 99) / 100)],
    cpu_us: (used.user + used.system) / latencies.length,
  }),
);
