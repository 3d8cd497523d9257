import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { RuleFormat } from '../../rules/index.ts';
import {
  applyPlan,
  formatPlan,
  isEmpty,
  makePlan,
  type Plan,
  planFingerprint,
  readRuleFile,
  riskOf,
} from '../../rules/plan/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { printable } from './rulesTable.ts';

/** What `plan` exits with where there is something to do; 0 where not, 1 where it failed. */
const EXIT_CODE_CHANGES = 2;

interface ApplyOptions {
  readonly force?: boolean;
  readonly plan?: string;
}

/** `floodgate rules plan|apply FILE`. */
export function registerPlan(rules: Command, format: RuleFormat): void {
  const plan = rules
    .command('plan')
    .description('show what would change for an account to have exactly the rules of a file')
    .argument('<file>', 'YAML with a list "rules"; - for standard input')
    .addHelpText('after', '\nExit status: 0 nothing to do, 2 there are changes, 1 it failed.')
    .action((file: string, _options: object, command: Command) => showPlan(format, file, command));
  addConnectionFlags(plan);

  const apply = rules
    .command('apply')
    .description('make an account have exactly the rules of a file')
    .argument('<file>', 'YAML with a list "rules"; - for standard input')
    .option(
      '--force',
      'also where every rule would be deleted, or more than a third of ten or more changed or deleted',
    )
    .option('--plan <id>', 'only where the plan is still this one, as `rules plan` showed it')
    .action((file: string, _options: ApplyOptions, command: Command) => applyFile(format, file, command));
  addConnectionFlags(apply);
}

async function showPlan(format: RuleFormat, file: string, command: Command): Promise<void> {
  const { plan } = await planOf(format, file, command);
  await printPlan(format, plan);
  const risk = riskOf(plan);
  if (risk !== undefined) process.stderr.write(`note: apply will want --force for this: it ${risk}\n`);
  if (!isEmpty(plan)) process.exitCode = EXIT_CODE_CHANGES;
}

async function applyFile(format: RuleFormat, file: string, command: Command): Promise<void> {
  const options = command.opts<ApplyOptions>();
  const { plan, client } = await planOf(format, file, command);
  await printPlan(format, plan);
  if (options.plan !== undefined && options.plan !== planFingerprint(plan))
    throw new OperatorError(
      `The plan is ${planFingerprint(plan)} now, not ${options.plan}; nothing was changed`,
    );
  const risk = riskOf(plan);
  if (risk !== undefined && !options.force)
    throw new OperatorError(`This ${risk}; nothing was changed. If that is meant, say --force`);
  const total = plan.creates.length + plan.updates.length + plan.deletes.length;
  let done = 0;
  try {
    await applyPlan(client, plan, (step) => {
      done++;
      process.stdout.write(
        `${step.kind} ${step.rule.scope} ${printable(step.rule.name)} (${done} of ${total})\n`,
      );
      if (step.kind === 'created')
        for (const message of step.messages) process.stderr.write(`note: ${message}\n`);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `${reason}\n${done} of ${total} changes were made; plan again to see what is left`,
      {
        cause: error,
      },
    );
  }
}

async function planOf(format: RuleFormat, file: string, command: Command) {
  const fileName = file === '-' ? 'standard input' : file;
  const { account: fileAccount, rules } = readRuleFile(readText(file), fileName, format);
  const { client } = connect(command, { fileAccount, format });
  return { client, plan: makePlan(await client.list(), rules, format) };
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function printPlan(format: RuleFormat, plan: Plan): Promise<void> {
  const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
  return print(formatPlan(plan, (colour, text) => (coloured ? styleText(colour, text) : text), format));
}
