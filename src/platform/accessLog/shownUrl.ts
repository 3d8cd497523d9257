/** What stands in the place of what may be a secret. */
const HIDDEN = '***';

/** A part of a path, or a value, with more characters may be a key: ours have 43, and others' 32 or more. */
const MAX_SHOWN_CHARACTERS = 15;
/** Below the rules API the ids of accounts and rules are longer, and no secrets: a UUID has 36. */
const RULES_API = '/client/v4/';
const MAX_ID_CHARACTERS = 36;
/** An address, or the hash of a block or transaction. */
const HASH = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
/** Names of parameters whose values are secret at any length. */
const SECRET_NAME = /key|token|secret|pass|auth|sig|cred/i;
const MAX_NAME_CHARACTERS = 32;
/** Further ones are left out. */
const MAX_PARAMETERS = 32;

/** The URL of a request without what may be a secret: a key in its path, as other providers have it, or in its query. */
export function shownUrl(url: string, knownNames: ReadonlySet<string>): string {
  if (url === '*') return url;
  // The form for proxies has a host, and perhaps a user and a password.
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

/** Where a page stands that links or calls here: its origin, as browsers tell it to others. */
export const shownReferer = (referer: string | undefined): string | undefined =>
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

/** As whoever reads the parameter decodes its name. */
const decoded = (name: string): string => new URLSearchParams(`${name}=`).keys().next().value ?? '';
