/** Where a node is, taken apart once: its URL may hold a key or a password, which only ever go to the node itself. */
export interface NodeAddress {
  readonly origin: string;
  /** Host and port: what logs, errors and reports may show of it. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** What every request carries: the type of its body, and who asks where the URL says so. */
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

/** What an HTTP status says of a node that refuses everything. */
export function refusalText(host: string, status: number): string {
  const text = `${host} answered with HTTP status ${status}`;
  if (status !== 401) return text;
  return `${text}: it wants a user and password, or others than the URL holds (http://USER:PASSWORD@HOST)`;
}

/** Basic authentication (RFC 7617), in UTF-8. */
function basicAuthorization(username: string, password: string): { authorization?: string } {
  if (username === '' && password === '') return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** What stands in a URL for a text; a `%` that stands for nothing else stands for itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
