import { Type } from 'typebox';
import { optionsOf } from './option.ts';
import { ConfigSchema } from './schema.ts';

/** A variable that is named like ours and sets nothing, and what to do about it. */
export interface StrayVariable {
  readonly variable: string;
  readonly advice: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const OPTIONS = optionsOf(ConfigSchema).filter(({ schema }) => !schema.fileOnly);
/** Read by commands, beside the options. */
const OTHERS = ['CONFIG', 'URL', 'ACCOUNT', 'TOKEN', 'TOKEN_FILE'];
const KNOWN = [
  ...OPTIONS.flatMap(({ variable, fileVariable = variable }) => [variable, fileVariable]),
  ...OTHERS.map((name) => `FLOODGATE_${name}`),
];
const NUMBERS = new Map(
  OPTIONS.filter(({ schema }) => Type.IsInteger(schema)).map((option) => [option.variable, option]),
);

/** What Kubernetes sets in every container for each Service whose name begins with floodgate. */
const KUBERNETES =
  /^FLOODGATE(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const KUBERNETES_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Whether a variable's value is one of Kubernetes' own for a Service, although its name is that of an option. */
export function isOfKubernetes(variable: string, value: string): boolean {
  return NUMBERS.has(variable) && KUBERNETES_ADDRESS.test(value);
}

/** The variables that a reader of the environment could believe to set something, and that do not. Values are never shown. */
export function strayVariables(environment: Environment): StrayVariable[] {
  return Object.entries(environment).flatMap(([variable, value = '']): StrayVariable[] => {
    if (!variable.startsWith('FLOODGATE_')) return [];
    const option = NUMBERS.get(variable);
    if (option !== undefined && isOfKubernetes(variable, value))
      return [
        {
          variable,
          advice: `it is what Kubernetes sets for a Service, and is ignored: set ${option.path} in the file or ${option.flag}, or enableServiceLinks: false in the pod's spec`,
        },
      ];
    const isTheirs = KUBERNETES.test(variable) && (!variable.endsWith('_PORT') || /:\/\/|^\d+$/.test(value));
    if (KNOWN.includes(variable) || isTheirs) return [];
    return [
      { variable, advice: `it is unknown and sets nothing; the nearest known one is ${nearest(variable)}` },
    ];
  });
}

function nearest(variable: string): string {
  // Of a name of any length no more is compared than can be alike.
  const name = variable.slice(0, MAX_COMPARED_CHARACTERS);
  const distances = KNOWN.map((known) => [distance(name, known), known] as const);
  return distances.reduce((best, one) => (one[0] < best[0] ? one : best))[1];
}

const MAX_COMPARED_CHARACTERS = 100;

/** How many characters have to be put in, left out or changed to make one text of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
