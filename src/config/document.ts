import { type TSchema, Type } from 'typebox';
import { allowed } from './allowed.ts';
import { type Option, optionsOf } from './option.ts';
import { ConfigSchema } from './schema.ts';

const HEAD = `# Configuration

<!-- Generated from src/config/schema.ts by \`npm run docs\`. Do not edit. -->

Every option can be set in a file, in an environment variable or on the command line; the command
line overrides variables, and variables override the file. The file is \`floodgate.yaml\` in the
working folder, or the file given by \`--config\` or \`FLOODGATE_CONFIG\`. An unknown option or an
invalid value is rejected at the start, with its name, its value and the allowed values. An unknown
variable that begins with \`FLOODGATE_\` causes a warning with the most similar known variable.
Variables that Kubernetes sets for a Service are known; \`FLOODGATE_PORT=tcp://…\` is ignored with a
warning, and the port is set by the file, a flag, or an explicit value in the pod's spec.

\`\`\`yaml
# floodgate.yaml
port: 8420
dataDir: /var/lib/floodgate
upstream:
  - http://127.0.0.1:8545
log:
  level: info
\`\`\`

In a variable, the items of a list are separated by commas
(\`FLOODGATE_UPSTREAM=http://a:8545,http://b:8545\`). On the command line, repeat the flag or give it
several values separated by blanks; items joined by commas are an error. \`floodgate dev\` has its own
defaults, shown by \`floodgate dev --help\`.

Do not set secrets by flags, because other users of the machine can see them. If an option has a
variable that ends in \`_FILE\`, that variable contains the path of a file with the value, as
containers and systemd provide secrets (\`FLOODGATE_API_TOKEN_FILE=%d/api-token\` with
\`LoadCredential=\`). For a list, each line of the file is an item. Setting both the variable and its
\`_FILE\` variant is an error.

If an option has a variable of OpenTelemetry (\`OTEL_…\`), it is used if neither another variable nor
a flag sets the option.

\`floodgate config check\` reads file, variables and flags like \`floodgate start\`.
\`floodgate config print\` shows each option with the source of its value.
`;

/** Returns docs/reference/configuration.md: each option with its three names, default and allowed values. */
export function configurationPage(): string {
  const options = optionsOf(ConfigSchema);
  const groups = new Map<string, Option[]>();
  for (const option of options) {
    const group = option.path.includes('.') ? (option.path.split('.')[0] ?? '') : '';
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  const sections = [...groups].map(([group, members]) =>
    [`## ${group === '' ? 'General' : `\`${group}\``}`, ...members.map(describe)].join('\n\n'),
  );
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}

function describe({ path, variable, fileVariable, flag, schema }: Option): string {
  const variables = [variable, fileVariable, schema.standardVariable].filter((name) => name !== undefined);
  const names = schema.fileOnly
    ? 'only in the file'
    : [...variables, flag].map((name) => `\`${name}\``).join(', ');
  const lines = [
    `### \`${path}\``,
    '',
    schema.description ?? '',
    '',
    `- Names: ${names}`,
    `- Allowed: ${allowed(schema)}`,
    `- Default: ${defaultOf(schema)}`,
  ];
  return lines.join('\n');
}

function defaultOf(schema: TSchema & { readonly default?: unknown }): string {
  const { default: value } = schema;
  if (value === undefined) return 'none';
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((item) => `\`${item}\``).join(', ');
  if (typeof value === 'object' && value !== null) return 'none';
  return Type.IsString(schema) || Type.IsUnion(schema) ? `\`${value}\`` : String(value);
}
