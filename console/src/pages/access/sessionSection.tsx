import { endListedSession, type ListedSession, listSessions } from '../../api/session.ts';
import { may, session } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table, timeColumn } from '../../ui/table/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useAction } from '../../ui/useAction.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { actorOf } from '../activity/texts.ts';

/** Browsers that are signed in to this console. */
export function SessionSection() {
  const reads = useLoaded(listSessions, []);
  const ending = useAction();
  const end = async (one: ListedSession) => {
    const answer = await ending.run(endListedSession(one));
    if ('value' in answer) showToast('The session has ended.');
    reads.again();
  };
  const { value } = reads;
  return (
    <section class="access-section" aria-busy={value === undefined}>
      <div class="head">
        <h2>Browsers that are signed in</h2>
      </div>
      <LoadState of={reads} what="the sessions" />
      {ending.failure && <ErrorBox failure={ending.failure} />}
      {value !== undefined && (
        <Table
          caption="Sessions"
          columns={columns((one) => void end(one))}
          rows={value.toReversed()}
          keyOf={({ id }) => id}
          isMarked={({ is_current }) => is_current}
        />
      )}
    </section>
  );
}

const columns = (end: (one: ListedSession) => void): readonly Column<ListedSession>[] => [
  {
    title: 'Token',
    cell: ({ token_id, label, is_current }) => (
      <>
        <UntrustedText text={actorOf({ by: token_id, label }).name} />
        {is_current && <span class="quiet"> (this browser)</span>}
      </>
    ),
  },
  { title: 'Address', cell: ({ from }) => <UntrustedText text={from || 'local'} /> },
  timeColumn('Since', ({ created_on }) => created_on),
  timeColumn('Ends', ({ expires_on }) => expires_on),
  {
    title: 'Action',
    isNumber: true,
    cell: (one) =>
      !one.is_current && (may('tokens:write') || one.token_id === session.value?.id) ? (
        <button type="button" onClick={() => end(one)}>
          End session
        </button>
      ) : null,
  },
];
