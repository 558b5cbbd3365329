// Dynamoose, a schema mapper that creates its own tables, as a client.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import dynamoose from 'dynamoose';

dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB({
  endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB, maxAttempts: 1 }));

const Book = dynamoose.model('Book', new dynamoose.Schema({
  author: { type: String, hashKey: true },
  title: { type: String, rangeKey: true },
  year: { type: Number, index: { name: 'by-year', type: 'local' } },
  genre: { type: String, index: { name: 'by-genre', type: 'global', rangeKey: 'year' } },
  prices: { type: Array, schema: [Number] },
  publisher: { type: Object, schema: { name: String, city: String } },
}));

describe('Dynamoose', () => {
  before(async () => {
    const table = new dynamoose.Table('Library', [Book], { initialize: false, waitForActive: { enabled: true, check: { frequency: 10 } } });
    await table.initialize();
  });
  after(() => dynamoose.aws.ddb().deleteTable({ TableName: 'Library' }));

  it('saves, finds and changes documents', async () => {
    await Book.create({ author: 'King', title: 'It', year: 1986, genre: 'horror', prices: [10, 12.5],
      publisher: { name: 'Viking', city: 'New York' } });
    await assert.rejects(Book.create({ author: 'King', title: 'It' }), /conditional request failed/);
    const book = await Book.get({ author: 'King', title: 'It' });
    assert.deepEqual(book.prices, [10, 12.5]);
    book.year = 1987;
    await book.save();
    const updated = await Book.update({ author: 'King', title: 'It' }, { $ADD: { year: -1 }, $SET: { genre: 'classic' } });
    assert.deepEqual([updated.year, updated.genre], [1986, 'classic']);
  });

  it('queries table and indexes', async () => {
    await Book.batchPut(Array.from({ length: 20 }, (_, i) => (
      { author: 'Many', title: `Book ${String(i).padStart(2, '0')}`, year: 2000 + i, genre: i % 2 ? 'odd' : 'even' })));
    const titles = await Book.query('author').eq('Many').where('title').beginsWith('Book 1').exec();
    assert.equal(titles.length, 10);
    const newest = await Book.query('genre').eq('odd').using('by-genre').sort('descending').limit(3).exec();
    assert.deepEqual(newest.map((book) => book.year), [2019, 2017, 2015]);
    const years = await Book.query('author').eq('Many').where('year').between(2005, 2007).using('by-year').exec();
    assert.deepEqual(years.map((book) => book.year), [2005, 2006, 2007]);
    const scanned = await Book.scan('year').gt(2015).all().exec();
    assert.equal(scanned.length, 4);
    const { count } = await Book.query('author').eq('Many').count().exec();
    assert.equal(count, 20);
    const several = await Book.batchGet([{ author: 'Many', title: 'Book 03' }, { author: 'King', title: 'It' }]);
    assert.equal(several.length, 2);
  });

  it('transacts', async () => {
    await dynamoose.transaction([
      Book.transaction.create({ author: 'New', title: 'One' }),
      Book.transaction.condition({ author: 'King', title: 'It' }, new dynamoose.Condition('year').eq(1986)),
      Book.transaction.delete({ author: 'Many', title: 'Book 00' }),
    ]);
    assert.equal(await Book.get({ author: 'Many', title: 'Book 00' }), undefined);
    assert.equal((await Book.get({ author: 'New', title: 'One' })).title, 'One');
  });
});
