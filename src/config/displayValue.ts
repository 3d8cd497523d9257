import type { EffectiveOption } from './load.ts';

const HIDDEN = '(hidden)';

/** Returns the value of an option for display. Hides secrets. Of a URL, shows only scheme, host and port. */
export function displayValue({ option: { schema }, value, from }: EffectiveOption): unknown {
  if (value === undefined || from === undefined) return value;
  if (schema.secret) return HIDDEN;
  return schema.isAddress ? withoutSecrets(value) : value;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(member)]));
  return typeof value === 'string' ? withoutSecret(value) : value;
}

function withoutSecret(address: string): string {
  if (!URL.canParse(address)) return HIDDEN;
  const { origin, href } = new URL(address);
  return href === `${origin}/` ? origin : `${origin}/${HIDDEN}`;
}
