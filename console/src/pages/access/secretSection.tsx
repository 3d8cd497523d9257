import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ApiResponse } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import type { WithSecret } from '../../api/server.ts';
import type { ApiToken, GatewayKey } from '../../api/types.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { confirm } from '../../ui/form/confirm.tsx';
import { Dialog } from '../../ui/form/dialog.tsx';
import { forgetDraft, useDraft } from '../../ui/form/draft.ts';
import { Lines } from '../../ui/lines.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useAction } from '../../ui/useAction.ts';
import type { Reads } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { expiresSoon, STATUS } from './texts.ts';

export interface FormProps<Item> {
  readonly close: () => void;
  readonly made: (item: WithSecret<Item>) => void;
}

interface SecretSectionProps<Item> {
  readonly what: 'token' | 'key';
  readonly title: string;
  readonly reads: Reads<readonly Item[]>;
  readonly rows: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly isMarked?: (item: Item) => boolean;
  /** Whether the user's token may create and revoke. */
  readonly isManager: boolean;
  readonly isRevocable: (item: Item) => boolean;
  readonly nameOf: (item: Item) => string;
  readonly consequenceOf: (item: Item) => string;
  readonly revoke: (id: string) => Promise<Outcome<ApiResponse<Item>>>;
  readonly form: (props: FormProps<Item>) => ComponentChildren;
  /** Command that tries a new secret. */
  readonly use: string;
  readonly changed?: () => void;
  readonly empty: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function SecretSection<Item extends ApiToken | GatewayKey>(props: SecretSectionProps<Item>) {
  const { what, reads, rows, isManager, nameOf } = props;
  const isMaking = useDraft(`new ${what}`, false, (isOpen) => isOpen);
  const made = useSignal<WithSecret<Item> | undefined>(undefined);
  const revocation = useAction();
  const isRead = reads.value !== undefined;
  const close = (): void => {
    isMaking.value = false;
    forgetDraft();
  };
  const revoke = async (item: Item) => {
    const isWanted = await confirm({
      title: `Revoke this ${what}?`,
      text: props.consequenceOf(item),
      action: 'Revoke',
      isHarmful: true,
      typed: nameOf(item),
    });
    if (!isWanted) return;
    const answer = await revocation.run(props.revoke(item.id));
    if ('value' in answer) showToast([`${nameOf(item)} is revoked.`, ...answer.value.messages].join(' '));
    reads.again();
  };
  const action: Column<Item> = {
    title: 'Action',
    isNumber: true,
    cell: (item) =>
      item.status === 'active' && props.isRevocable(item) ? (
        <button type="button" onClick={() => void revoke(item)}>
          Revoke
        </button>
      ) : null,
  };
  return (
    <section class="access-section" aria-busy={!isRead}>
      <div class="head">
        <h2>{props.title}</h2>
        {isManager && isRead && (
          <button type="button" class="primary" onClick={() => (isMaking.value = true)}>
            New {what}
          </button>
        )}
      </div>
      <LoadState of={reads} what={`the ${what}s`} />
      {revocation.failure && <ErrorBox failure={revocation.failure} />}
      {isRead && rows.length === 0 && props.empty}
      {rows.length > 0 && (
        <Table
          caption={what === 'token' ? 'Tokens' : 'API keys'}
          isWide={what === 'token'}
          columns={isManager ? [...props.columns, action] : props.columns}
          rows={rows}
          keyOf={({ id }) => id}
          {...(props.isMarked && { isMarked: props.isMarked })}
        />
      )}
      {props.children}
      {isManager &&
        isMaking.value &&
        props.form({
          close,
          made: (item) => {
            close();
            made.value = item;
            reads.again();
            props.changed?.();
          },
        })}
      {made.value && (
        <Secret
          what={what}
          secret={made.value.value}
          use={props.use}
          close={() => (made.value = undefined)}
        />
      )}
    </section>
  );
}

interface SecretProps {
  readonly what: string;
  readonly secret: string;
  readonly use: string;
  readonly close: () => void;
}

/** Shows the secret of a new token or key. Neither the server nor the console stores the secret. */
function Secret({ what, secret, use, close }: SecretProps) {
  return (
    <Dialog title={`The new ${what}`} close={close}>
      <p>
        <strong>It is shown only once.</strong> The server keeps no copy. Store it where only its user can
        read it.
      </p>
      <Lines text={secret} class="secret" />
      <p class="quiet">To try it:</p>
      <Lines text={use} />
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}

function Expiry({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="quiet">never</span>;
  const isSoon = expiresSoon(at, Date.now());
  return (
    <span class={isSoon ? 'look' : undefined}>
      {isSoon && '▲ '}
      <Time at={at} />
    </span>
  );
}

export const statusColumn: Column<ApiToken | GatewayKey> = {
  title: 'Status',
  cell: ({ status }) => <span class={`state ${STATUS[status].tone}`}>{STATUS[status].word}</span>,
};
export const commonColumns: readonly Column<ApiToken | GatewayKey>[] = [
  { title: 'Expires', cell: ({ expires_on }) => <Expiry at={expires_on} /> },
  {
    title: 'Last used',
    cell: ({ last_used_on }) =>
      last_used_on ? <Time at={last_used_on} /> : <span class="quiet">never</span>,
  },
];
