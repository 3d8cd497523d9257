const HIDDEN = '***';

/** Longer path segments and values are hidden. API keys of Floodgate have 43 characters, other keys 32 or more. */
const MAX_SHOWN_CHARACTERS = 15;
/** Path of the rules API. Ids of accounts and rules in it are longer but not secret: a UUID has 36 characters. */
const RULES_API = '/client/v4/';
const MAX_ID_CHARACTERS = 36;
/** Matches an Ethereum address, or the hash of a block or transaction. */
const HASH = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
/** Matches names of query parameters whose values are always hidden. */
const SECRET_NAME = /key|token|secret|pass|auth|sig|cred/i;
const MAX_NAME_CHARACTERS = 32;
/** Query parameters after this number are hidden. */
const MAX_PARAMETERS = 32;

/** Returns a URL with possible API keys hidden: in its query, or in its path, where some providers put them. */
export function redactedUrl(url: string, knownNames: ReadonlySet<string>): string {
  if (url === '*') return url;
  // An absolute URL, as clients send it to a proxy, contains a host and perhaps a user and password.
  if (!url.startsWith('/')) return HIDDEN;
  const question = url.indexOf('?');
  const path = question === -1 ? url : url.slice(0, question);
  const maxCharacters = path.startsWith(RULES_API) ? MAX_ID_CHARACTERS : MAX_SHOWN_CHARACTERS;
  const shown = path
    .split('/')
    .map((part) => (part.length <= maxCharacters || knownNames.has(part) ? part : HIDDEN))
    .join('/');
  return question === -1 ? shown : `${shown}?${shownQuery(url.slice(question + 1))}`;
}

/** Returns the origin in a Referer header, which is the part that browsers share with other sites. */
export const redactedReferer = (referer: string | undefined): string | undefined =>
  /^https?:\/\/[\w.:[\]-]{1,255}(?=[/?#]|$)/.exec(referer ?? '')?.[0];

function shownQuery(query: string): string {
  const pairs = query.split('&', MAX_PARAMETERS + 1);
  const shown = pairs.slice(0, MAX_PARAMETERS).map(shownPair);
  return (pairs.length > MAX_PARAMETERS ? [...shown, HIDDEN] : shown).join('&');
}

function shownPair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals === -1) return pair.length <= MAX_SHOWN_CHARACTERS ? pair : HIDDEN;
  const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
  if (name.length > MAX_NAME_CHARACTERS) return HIDDEN;
  const isShown =
    !SECRET_NAME.test(decoded(name)) && (value.length <= MAX_SHOWN_CHARACTERS || HASH.test(value));
  return `${name}=${isShown ? value : HIDDEN}`;
}

/** Decodes the name of a query parameter with URLSearchParams, as the server does. */
const decoded = (name: string): string => new URLSearchParams(`${name}=`).keys().next().value ?? '';
