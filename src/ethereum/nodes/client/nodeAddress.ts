/** Parts of a node's URL. The URL may contain an API key or a password, so only the node itself may receive it. */
export interface NodeAddress {
  readonly origin: string;
  /** Host and port: the only parts that logs, errors and reports may contain. */
  readonly host: string;
  readonly path: string;
  /** Headers of every request: content type, and basic authentication if the URL has credentials. */
  readonly headers: Record<string, string>;
}

export function nodeAddress(url: string): NodeAddress {
  const { origin, host, pathname, search, username, password } = new URL(url);
  return {
    origin,
    host,
    path: pathname + search,
    headers: { 'content-type': 'application/json', ...basicAuthorization(username, password) },
  };
}

/** Returns the error text for an HTTP status without a JSON-RPC response. */
export function refusalText(host: string, status: number): string {
  const text = `${host} answered with HTTP status ${status}`;
  if (status !== 401) return text;
  return `${text}: it requires a user and password, or other ones than in the URL (http://USER:PASSWORD@HOST)`;
}

/** Basic authentication (RFC 7617) in UTF-8. */
function basicAuthorization(username: string, password: string): { authorization?: string } {
  if (username === '' && password === '') return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Percent-decodes a part of a URL. Returns it unchanged if it is not valid percent-encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
