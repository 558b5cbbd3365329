// s3rver, an S3 server: serves a folder until it is ended. Prints its port.
import S3rver from 's3rver';

const server = new S3rver({
  address: '127.0.0.1', port: 0, silent: true, directory: process.argv[2], configureBuckets: [{ name: 'bucket' }] });
const { port } = await server.run();
console.log(port);
