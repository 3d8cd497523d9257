import { describe, expect, it } from 'vitest';
import { ConfigError } from './configError.ts';
import { loadConfig } from './load.ts';
import { unknownVariables } from './unknownVariables.ts';

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
  it('sets a secret, or a list of node URLs with one item per line', () => {
    expect(load({ FLOODGATE_API_TOKEN_FILE: 'token' }).apiToken).toBe(SECRET);
    expect(load({ FLOODGATE_API_TOKEN_FILE: 'crlf' }).apiToken).toBe(SECRET);
    expect(load({ FLOODGATE_UPSTREAM_FILE: 'urls' }).upstream).toEqual(['http://one:1/key', 'http://two:2']);
    expect(load({ FLOODGATE_UPSTREAM_FILE: 'commas' }).upstream).toEqual(['http://one:1', 'http://two:2']);
  });

  it('is overridden by a flag and exists only for secrets and URLs', () => {
    const environment = { FLOODGATE_API_TOKEN_FILE: 'token', FLOODGATE_PORT_FILE: 'token' };
    expect(load(environment, { apiToken: 'that-of-the-command-line' }).apiToken).toBe(
      'that-of-the-command-line',
    );
    expect(unknownVariables(environment).map(({ variable }) => variable)).toEqual(['FLOODGATE_PORT_FILE']);
  });

  it.each([
    [
      'set in addition to the variable itself',
      { FLOODGATE_API_TOKEN: SECRET, FLOODGATE_API_TOKEN_FILE: 'token' },
      'both set',
    ],
    ['read from an empty file', { FLOODGATE_API_TOKEN_FILE: 'empty' }, 'empty'],
    [
      'read from a file with an invalid value',
      { FLOODGATE_API_TOKEN_FILE: 'short' },
      '(not shown); allowed: 16 to 256',
    ],
  ])('is rejected if it is %s, without showing its value', (_what, environment, says) => {
    const refused = (): unknown => load(environment);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(says);
    expect(refused).not.toThrow(new RegExp(`${SECRET}|short`));
  });
});
