import type { IncomingMessage } from 'node:http';
import { type AccessLogFormat, FORMATS } from './formats.ts';
import type { LineFile } from './lineFile.ts';
import { redactedReferer, redactedUrl } from './redactedUrl.ts';

export interface LoggedResponse {
  readonly req: IncomingMessage;
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly bodyBytes: number;
  onFinished(then: () => void): void;
}

export interface AccessLogOptions {
  readonly format: AccessLogFormat;
  /** Names of Ethereum networks. A path segment with one of these names is never hidden. */
  readonly knownNames: ReadonlySet<string>;
}

export interface AccessLogDependencies {
  readonly file: Pick<LineFile, 'write'>;
  readonly clientAddress: (request: IncomingMessage) => string;
}

/** Logged status of a request whose client disconnected before the response started; the same as in nginx. */
const CLIENT_GONE = 499;
const SWITCHING_PROTOCOLS = 101;

/** Writes a line to the access log for each request, when its response has finished. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #dependencies: AccessLogDependencies;

  constructor(options: AccessLogOptions, dependencies: AccessLogDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Adds a line for a request when its response has finished. Must be called before the request is handled. */
  handled(response: LoggedResponse): void {
    const { format, knownNames } = this.#options;
    const { file, clientAddress } = this.#dependencies;
    const { req: request } = response;
    const atMs = Date.now();
    const startMs = performance.now();
    // The client's address is read before the response, because a closed socket may have none.
    const client = clientAddress(request);
    response.onFinished(() => {
      const { statusCode, headersSent, bodyBytes } = response;
      const { method = '', url = '', httpVersion, headers } = request;
      const line = FORMATS[format]({
        client,
        atMs,
        method,
        url: redactedUrl(url, knownNames),
        httpVersion,
        status: headersSent || statusCode === SWITCHING_PROTOCOLS ? statusCode : CLIENT_GONE,
        bytes: bodyBytes,
        durationMs: performance.now() - startMs,
        referer: redactedReferer(headers.referer),
        userAgent: headers['user-agent'],
      });
      file.write(line);
    });
  }
}
