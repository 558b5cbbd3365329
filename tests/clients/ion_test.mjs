// Exports in Ion, read by Amazon's own library for Ion, and a file that this library has written, imported.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as ion from 'ion-js';

const client = new dynamodb.DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB, maxAttempts: 1 });
const send = (name, input) => client.send(new dynamodb[`${name}Command`](input));
const buckets = path.join(process.env.HOME, 'data', 'exports');

// Values of every type, and names and texts that need quotes or escapes.
const values = {
  string: { S: 'text with "quotes", \\ and \n, Grüße, 𝄞' },
  empty: { S: '' },
  true: { BOOL: true },
  null: { NULL: true },
  'name with blanks, \'quotes\' and \\': { S: 'x' },
  $ion_1_0: { S: 'a name that Ion knows' },
  bytes: { B: Buffer.from([0, 1, 127, 128, 255]) },
  noBytes: { B: Buffer.alloc(0) },
  list: { L: [{ N: '1' }, { L: [] }, { M: {} }, { S: 'deep' }] },
  map: { M: { inner: { M: { sets: { SS: ['a', 'b"c'] } } } } },
  texts: { SS: ['x', 'nan', 'null', 'true'] },
  numbers: { NS: ['1', '-2.5', '1e100'] },
  blobs: { BS: [Buffer.from('one'), Buffer.from([0xff])] },
};
const numbers = ['0', '-0.0', '7', '-42', '8.5', '600', '1e20', '1e125', '-9.9999999999999999999999999999999999999e125',
  '1e-130', '0.00001', '12345678901234567890123456789012345678', '0.12345678901234567890123456789012345678'];
const items = [
  ...numbers.map((number, i) => ({ pk: { S: `number ${i}` }, number: { N: number } })),
  ...Object.entries(values).map(([name, value], i) => ({ pk: { S: `value ${i}` }, [name]: value })),
  { pk: { S: 'all' }, ...values },
];

// A decimal as [digits without zeros at either end, exponent].
function normalized(text) {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d*)\.?(\d*)?(?:[eEdD]([+-]?\d+))?$/.exec(text);
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

// DynamoDB's JSON with numbers and bytes in one form, and sets in one order.
function canonical(value) {
  const [[type, content]] = Object.entries(value);
  switch (type) {
    case 'N': return { N: normalized(content) };
    case 'B': return { B: Buffer.from(content).toString('base64') };
    case 'L': return { L: content.map(canonical) };
    case 'M': return { M: canonicalItem(content) };
    case 'SS': return { SS: [...content].sort() };
    case 'NS': return { NS: content.map(normalized).sort() };
    case 'BS': return { BS: content.map((one) => Buffer.from(one).toString('base64')).sort() };
    default: return value;
  }
}
const canonicalItem = (item) =>
  Object.fromEntries(Object.entries(item).sort().map(([name, value]) => [name, canonical(value)]));
const byKey = (all) => Object.fromEntries(all.map((item) => [item.pk.S, canonicalItem(item)]));

// What Amazon's library says about a value, in DynamoDB's JSON.
function fromIon(value) {
  const [set] = value.getAnnotations();
  switch (value.getType()) {
    case ion.IonTypes.STRING: return { S: value.stringValue() };
    case ion.IonTypes.BOOL: return { BOOL: value.booleanValue() };
    case ion.IonTypes.NULL: return { NULL: true };
    case ion.IonTypes.DECIMAL: return { N: value.decimalValue().toString() };
    case ion.IonTypes.BLOB: return { B: value.uInt8ArrayValue() };
    case ion.IonTypes.STRUCT: return { M: itemFromIon(value) };
    case ion.IonTypes.LIST: {
      const elements = [...value].map(fromIon);
      if (set === undefined) return { L: elements };
      assert.match(set, /^\$dynamodb_(SS|NS|BS)$/);
      return { [set.slice(-2)]: elements.map((one) => Object.values(one)[0]) };
    }
    default: throw new Error(`the export has a value of type ${value.getType().name}`);
  }
}
const itemFromIon = (struct) =>
  Object.fromEntries(struct.fields().map(([name, value]) => [name, fromIon(value)]));

async function ended(describe, arn) {
  for (;;) {
    const reply = await send(...describe(arn));
    const [[, description]] = Object.entries(reply).filter(([name]) => name.endsWith('Description'));
    const status = description.ExportStatus ?? description.ImportStatus;
    if (status !== 'IN_PROGRESS') return description;
    await setTimeout(50);
  }
}

describe('Ion', () => {
  it('an export is what Amazon\'s library reads', async () => {
    await send('CreateTable', {
      TableName: 'Ion', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    });
    for (const Item of items) await send('PutItem', { TableName: 'Ion', Item });
    await send('UpdateContinuousBackups', {
      TableName: 'Ion', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
    mkdirSync(path.join(buckets, 'ion-out'), { recursive: true });
    const { Table } = await send('DescribeTable', { TableName: 'Ion' });
    const { ExportDescription } = await send('ExportTableToPointInTime', {
      TableArn: Table.TableArn, S3Bucket: 'ion-out', ExportFormat: 'ION',
    });
    const made = await ended((ExportArn) => ['DescribeExport', { ExportArn }], ExportDescription.ExportArn);
    assert.equal(made.ExportStatus, 'COMPLETED', made.FailureMessage);
    assert.equal(made.ItemCount, items.length);

    const data = path.join(buckets, 'ion-out', path.dirname(made.ExportManifest), 'data');
    const read = [];
    for (const name of readdirSync(data)) {
      const text = gunzipSync(readFileSync(path.join(data, name))).toString();
      for (const line of ion.loadAll(text)) read.push(itemFromIon(line.get('Item')));
    }
    assert.deepEqual(byKey(read), byKey(items));
  });

  it('a file that Amazon\'s library has written is imported', async () => {
    const toIon = (value) => {
      const [[type, content]] = Object.entries(value);
      switch (type) {
        case 'N': return ion.dom.Value.from(new ion.Decimal(content.replace(/e/i, 'd')));
        case 'B': return ion.dom.Value.from(new Uint8Array(content));
        case 'NULL': return ion.dom.Value.from(null);
        case 'L': return ion.dom.Value.from(content.map(toIon));
        case 'M': return structOf(content);
        case 'SS': case 'NS': case 'BS':
          return ion.dom.Value.from(content.map((one) => toIon({ [type[0]]: one })), [`$dynamodb_${type}`]);
        default: return ion.dom.Value.from(content);
      }
    };
    const structOf = (item) => ion.dom.Value.from(
      Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toIon(value)])));
    const lines = items.map((item) => ion.dumpText({ Item: structOf(item) }).replaceAll('\n', ' '));
    mkdirSync(path.join(buckets, 'ion-in'), { recursive: true });
    writeFileSync(path.join(buckets, 'ion-in', 'items.ion'), `${lines.join('\n')}\n`);
    const { ImportTableDescription } = await send('ImportTable', {
      S3BucketSource: { S3Bucket: 'ion-in' }, InputFormat: 'ION',
      TableCreationParameters: {
        TableName: 'FromIon', BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      },
    });
    const done = await ended((ImportArn) => ['DescribeImport', { ImportArn }], ImportTableDescription.ImportArn);
    assert.equal(done.ImportStatus, 'COMPLETED', done.FailureMessage);
    assert.equal(done.ErrorCount, 0);
    const { Items } = await send('Scan', { TableName: 'FromIon' });
    assert.deepEqual(byKey(Items), byKey(items));
  });
});
