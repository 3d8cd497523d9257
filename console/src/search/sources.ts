import { entryCalls, listAllAttacks, listAssessments, policyCalls, ruleCalls } from '../api/account.ts';
import type { Outcome } from '../api/failure.ts';
import { gateway } from '../api/gateway.ts';
import { isKeyListOpen } from '../keyboard.ts';
import { live, ruleInForceId } from '../live.ts';
import { isCurrent } from '../pages/attacks/current.ts';
import { zonesText } from '../pages/attacks/texts.ts';
import { visiblePages } from '../pages/index.ts';
import { entryValue, listNames, listTexts } from '../pages/lists/entries.ts';
import { settingTitles } from '../pages/rules/settings.tsx';
import { scopeText } from '../pages/rules/texts.ts';
import { linkTo, subjectOf } from '../pages/traces/traceUrl.ts';
import { assessmentTexts } from '../pages/zones/texts.ts';
import { may, signOut } from '../session.ts';
import type { Hit } from './hit.ts';

const ZONES_NAMED = 3;

async function hitsOf<T>(
  reading: Promise<Outcome<T>>,
  hits: (value: T) => readonly Hit[],
): Promise<readonly Hit[] | undefined> {
  const outcome = await reading;
  if ('value' in outcome) return hits(outcome.value);
  // A server without a guard answers with 404.
  return outcome.failure.status === 404 ? [] : undefined;
}

export interface FoundObjects {
  readonly hits: readonly Hit[];
  /** False if some objects could not be read. */
  readonly isWhole: boolean;
}

/** Reads the objects that the token may read. */
export async function readObjects(): Promise<FoundObjects> {
  if (!may('dns_protection:read')) return { hits: [], isWhole: true };
  const found = await Promise.all([
    hitsOf(ruleCalls.list(), ({ result }) =>
      result.map((rule) => ({
        kind: 'Rule',
        title: scopeText(rule),
        open: `/rules/${rule.id}`,
        note: `${rule.mode}${rule.id === ruleInForceId.value ? ', in force here' : ''}`,
      })),
    ),
    hitsOf(policyCalls.list(), ({ result }) =>
      result.map(({ id, zone, mode }) => ({
        kind: 'Zone policy',
        title: zone,
        note: mode,
        open: `/zones/${id}`,
      })),
    ),
    hitsOf(listAssessments(), (zones) =>
      zones.map(({ zone, assessment }) => ({
        kind: 'Zone',
        title: zone,
        note: assessmentTexts[assessment].text,
        open: `/zones?text=${encodeURIComponent(zone)}`,
      })),
    ),
    ...listNames.map((list) =>
      hitsOf(entryCalls[list].list(), ({ result }) =>
        result.map((entry) => ({
          kind: 'List entry',
          title: entryValue(entry),
          open: `/lists/${list}/${entry.id}`,
          note: `${listTexts[list].past}${entry.comment && `, ${entry.comment}`}`,
        })),
      ),
    ),
    hitsOf(listAllAttacks(), (attacks) =>
      attacks.map((attack) => ({
        kind: 'Attack',
        title: zonesText(attack, ZONES_NAMED),
        open: `/attacks/${attack.id}`,
        note: `${isCurrent(attack, live.value) ? 'active, ' : ''}${attack.started_on.slice(0, 16).replace('T', ' ')} UTC, ${attack.id}`,
      })),
    ),
  ]);
  return {
    hits: found.flatMap((hits) => hits ?? []),
    isWhole: found.every((hits) => hits !== undefined),
  };
}

const ACTIONS: readonly (readonly [string, string | undefined, Hit['open']])[] = [
  ['New rule', 'dns_protection:write', '/rules/new'],
  ['New zone policy', 'dns_protection:write', '/zones/new'],
  ['Deny or allow a network or a name', 'dns_protection:write', '/lists'],
  ['Keyboard shortcuts', undefined, () => (isKeyListOpen.value = true)],
  ['Sign out', undefined, () => signOut()],
];

export function fixedHits(): readonly Hit[] {
  const settings = ruleInForceId.value === undefined ? [] : Object.values(settingTitles);
  return [
    ...visiblePages.value.map(({ title, path }) => ({ kind: 'Page', title, open: path })),
    ...ACTIONS.filter(([, needed]) => may(needed)).map(([title, , open]) => ({
      kind: 'Action',
      title,
      open,
    })),
    ...settings.map((title) => ({
      kind: 'Setting',
      title,
      note: 'rule in force',
      open: `/rules/${ruleInForceId.value}`,
    })),
  ];
}

export function traceHits(text: string): readonly Hit[] {
  const subject = subjectOf(text);
  if (subject === undefined) return [];
  const kind = subject.kind.charAt(0).toUpperCase() + subject.kind.slice(1);
  return (gateway.value?.networks ?? []).map(({ network }) => ({
    kind,
    title: subject.id,
    note: network,
    open: linkTo(subject, network),
  }));
}
