import { Type } from 'typebox';
import { mostSimilar } from './mostSimilar.ts';
import { optionsOf } from './option.ts';
import { ConfigSchema } from './schema.ts';

/** A variable with Floodgate's prefix that has no effect, and advice for the operator. */
export interface UnknownVariable {
  readonly variable: string;
  readonly advice: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const OPTIONS = optionsOf(ConfigSchema).filter(({ schema }) => !schema.fileOnly);
/** Variables that commands read in addition to the options. */
const OTHERS = ['CONFIG', 'URL', 'ACCOUNT', 'TOKEN', 'TOKEN_FILE'];
const KNOWN = [
  ...OPTIONS.flatMap(({ variable, fileVariable = variable }) => [variable, fileVariable]),
  ...OTHERS.map((name) => `FLOODGATE_${name}`),
];
const NUMBERS = new Map(
  OPTIONS.filter(({ schema }) => Type.IsInteger(schema)).map((option) => [option.variable, option]),
);

/** Names of the variables that Kubernetes sets in each container for a Service whose name begins with floodgate. */
const KUBERNETES =
  /^FLOODGATE(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const KUBERNETES_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Returns true if Kubernetes set this variable for a Service, and the variable happens to have an option's name. */
export function isSetByKubernetes(variable: string, value: string): boolean {
  return NUMBERS.has(variable) && KUBERNETES_ADDRESS.test(value);
}

/** Returns the FLOODGATE_ variables without effect. Their values are never shown. */
export function unknownVariables(environment: Environment): UnknownVariable[] {
  return Object.entries(environment).flatMap(([variable, value = '']): UnknownVariable[] => {
    if (!variable.startsWith('FLOODGATE_')) return [];
    const option = NUMBERS.get(variable);
    if (option !== undefined && isSetByKubernetes(variable, value))
      return [
        {
          variable,
          advice: `set by Kubernetes for a Service and ignored: set ${option.path} in the file or ${option.flag}, or enableServiceLinks: false in the pod's spec`,
        },
      ];
    const isTheirs = KUBERNETES.test(variable) && (!variable.endsWith('_PORT') || /:\/\/|^\d+$/.test(value));
    if (KNOWN.includes(variable) || isTheirs) return [];
    return [
      {
        variable,
        advice: `unknown variable, ignored; the most similar known variable is ${mostSimilar(variable, KNOWN)}`,
      },
    ];
  });
}
