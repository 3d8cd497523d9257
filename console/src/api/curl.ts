export interface HttpRequest {
  readonly method: string;
  /** Absolute URL, or a path on this server. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type SecretVariable = 'FLOODGATE_TOKEN' | 'FLOODGATE_KEY';

/** Returns a request as a curl command. A shell variable replaces the secret in the header `authorization`. */
export function curlCommand({ method, url, headers, body }: HttpRequest, secret: SecretVariable): string {
  const { authorization, ...others } = headers;
  return [
    'curl',
    // Without -X, curl sends GET if there is no body, and POST if there is one.
    ...(method === (body === undefined ? 'GET' : 'POST') ? [] : ['-X', method]),
    quote(new URL(url, location.href).href),
    ...(authorization === undefined ? [] : [`-H "Authorization: Bearer $${secret}"`]),
    ...Object.entries(others).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ['--data', quote(body)]),
  ].join(' ');
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
