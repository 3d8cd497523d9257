// Loaded before the program: each answer over HTTP says which process made it, also where another has passed it on.
const { ServerResponse } = require('node:http');

const NAME = 'x-made-by';
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (status, ...rest) {
  const headers = rest.at(-1);
  if (typeof headers !== 'object' || headers === null || !(NAME in headers))
    this.setHeader(NAME, process.pid);
  return writeHead.call(this, status, ...rest);
};
