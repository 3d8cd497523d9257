import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { listAttacks, startTestFlood } from '../../api/account.ts';
import type { GuardStatus } from '../../api/types.ts';
import { live } from '../../live.ts';
import { account, may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { useAction } from '../../ui/useAction.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted } from '../../ui/value/quantity.tsx';

const storageKey = (): string => `floodgate.started.${account.value}`;

/**
 * Returns the list of the first steps, null if it is hidden, and undefined until that is known. The list is hidden if
 * all steps are done when the page opens, so that nothing below moves when the last one is done. It is also hidden
 * after it was dismissed in this browser.
 */
export function useOnboarding(): VNode | null | undefined {
  const guard = live.value?.guard;
  const isHidden = useSignal<boolean | undefined>(undefined);
  // A server without a guard has no attacks.
  const { value, failure } = useLoaded(() => listAttacks({}), [account.value, guard?.attack], {
    isHeld: guard === undefined,
  });
  const attacks = value?.info.total_count;
  const steps = guard && attacks !== undefined ? stepsOf(guard, attacks > 0 || guard.attack) : undefined;
  const isDone = steps?.every(({ done }) => done);
  useEffect(() => {
    if (isDone !== undefined && isHidden.peek() === undefined)
      isHidden.value = isDone || localStorage.getItem(storageKey()) !== null;
  }, [isDone, isHidden]);
  if (isHidden.value ?? failure !== undefined) return null;
  if (steps === undefined || isHidden.value === undefined) return undefined;
  const dismiss = () => {
    localStorage.setItem(storageKey(), 'dismissed');
    isHidden.value = true;
  };
  return (
    <section class="onboarding">
      <div class="head">
        <h2>{isDone ? 'The guard protects your zones' : 'First steps'}</h2>
        <button type="button" class="plain-button" onClick={dismiss}>
          {isDone ? 'Close' : 'Dismiss'}
        </button>
      </div>
      <ol>
        {steps.map(({ title, done, text }) => (
          <li key={title}>
            <span class={done ? 'well' : 'quiet'}>
              <span aria-hidden="true">{done ? '✓' : '○'}</span>
              <span class="unseen">{done ? 'Done: ' : 'To do: '}</span>
            </span>{' '}
            <strong>{title}</strong>
            <div class="quiet step">{text}</div>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface Step {
  readonly title: string;
  readonly done: boolean;
  readonly text: ComponentChildren;
}

function stepsOf({ profile_names: names, rule, test_flood: flood }: GuardStatus, isTried: boolean): Step[] {
  const mayWrite = may('dns_protection:write');
  return [
    {
      title: 'Zone read',
      done: names > 0,
      text:
        names > 0 ? (
          `The guard knows ${counted(names, 'name')}.`
        ) : (
          <>
            Start the server with <code>--dns-zones ZONE=FILE</code>.
          </>
        ),
    },
    {
      title: 'Rule created',
      done: rule !== undefined,
      text:
        rule === undefined && mayWrite ? (
          <Link to="/rules/new">Create a rule</Link>
        ) : rule === undefined ? (
          'Without a rule, every query passes unless it is denied.'
        ) : (
          `A rule is in force, ${rule.mode}.`
        ),
    },
    ...(flood === undefined
      ? []
      : [{ title: 'Flood tried', done: isTried, text: <TestFlood endsOn={flood.ends_on} /> }]),
    {
      title: 'Rule enabled',
      done: rule?.mode === 'enabled',
      text:
        rule?.mode === 'enabled'
          ? 'Floods are dropped from now on.'
          : rule === undefined
            ? 'Create a rule first.'
            : mayWrite
              ? 'Set the mode to enabled, at the top of this page.'
              : 'The rule drops nothing until it is enabled.',
    },
  ];
}

function TestFlood({ endsOn }: { readonly endsOn: string | undefined }) {
  const { failure, run } = useAction();
  const leftMs = Date.parse(endsOn ?? '') - Date.parse(live.value?.at ?? '');
  if (endsOn !== undefined) return <>Running, {Math.max(0, Math.ceil(leftMs / 1000))} s left.</>;
  if (!may('dns_protection:write')) return <>Needs a token that may write.</>;
  return (
    <>
      <button type="button" onClick={() => void run(startTestFlood())}>
        Start a test flood
      </button>
      {failure && <ErrorBox failure={failure} />}
    </>
  );
}
