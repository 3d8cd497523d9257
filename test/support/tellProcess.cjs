// Preloaded before the program: adds a header with the id of the process that created the response, even if another
// process forwards it.
const { ServerResponse } = require('node:http');

const NAME = 'x-made-by';
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (status, ...rest) {
  const headers = rest.at(-1);
  if (typeof headers !== 'object' || headers === null || !(NAME in headers))
    this.setHeader(NAME, process.pid);
  return writeHead.call(this, status, ...rest);
};
