import { describe, expect, it } from 'vitest';
import { ConfigError } from './configError.ts';
import { loadConfig } from './load.ts';
import { strayVariables } from './strayVariables.ts';

const SECRET = 'a-token-of-many-characters';
const FILES: Readonly<Record<string, string>> = {
  token: `${SECRET}\n`,
  crlf: `${SECRET}\r\n`,
  urls: 'http://one:1/key\nhttp://two:2\n',
  commas: 'http://one:1, http://two:2',
  short: 'short',
  empty: '\n',
};

const load = (environment: Readonly<Record<string, string>>, flags: Readonly<Record<string, string>> = {}) =>
  loadConfig({ environment, flags, readFile: (name) => FILES[name] ?? '' });

describe('a variable that names a file', () => {
  it('sets a secret, or the addresses of nodes, with an item on each line', () => {
    expect(load({ FLOODGATE_API_TOKEN_FILE: 'token' }).apiToken).toBe(SECRET);
    expect(load({ FLOODGATE_API_TOKEN_FILE: 'crlf' }).apiToken).toBe(SECRET);
    expect(load({ FLOODGATE_UPSTREAM_FILE: 'urls' }).upstream).toEqual(['http://one:1/key', 'http://two:2']);
    expect(load({ FLOODGATE_UPSTREAM_FILE: 'commas' }).upstream).toEqual(['http://one:1', 'http://two:2']);
  });

  it('gives way to a flag, and is no variable of what is no secret', () => {
    const environment = { FLOODGATE_API_TOKEN_FILE: 'token', FLOODGATE_PORT_FILE: 'token' };
    expect(load(environment, { apiToken: 'that-of-the-command-line' }).apiToken).toBe(
      'that-of-the-command-line',
    );
    expect(strayVariables(environment).map(({ variable }) => variable)).toEqual(['FLOODGATE_PORT_FILE']);
  });

  it.each([
    [
      'set beside the variable itself',
      { FLOODGATE_API_TOKEN: SECRET, FLOODGATE_API_TOKEN_FILE: 'token' },
      'both set',
    ],
    ['of an empty file', { FLOODGATE_API_TOKEN_FILE: 'empty' }, 'empty'],
    [
      'of a file with what is not allowed',
      { FLOODGATE_API_TOKEN_FILE: 'short' },
      '(not shown); allowed: 16 to 256',
    ],
  ])('is refused where it is %s, and nothing is shown', (_what, environment, says) => {
    const refused = (): unknown => load(environment);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(says);
    expect(refused).not.toThrow(new RegExp(`${SECRET}|short`));
  });
});
