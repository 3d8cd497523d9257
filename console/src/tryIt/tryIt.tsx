import './tryIt.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { EmptyState } from '../ui/emptyState.tsx';
import { TextField } from '../ui/form/fields.tsx';
import { OperationForm } from './operationForm.tsx';
import type { Operation } from './operations.ts';
import type { Endpoint } from './request.ts';

export interface TryItProps {
  readonly operations: readonly Operation[];
  readonly chosen: Operation | undefined;
  readonly endpointOf: (operation: Operation) => Endpoint;
  readonly linkTo: (operation: Operation) => ComponentChildren;
  /** Content between the search and the list of operations. */
  readonly children?: ComponentChildren;
}

export function TryIt({ operations, chosen, endpointOf, linkTo, children }: TryItProps) {
  const search = useSignal('');
  const found = operations.filter((operation) => isFound(operation, search.value));
  return (
    <div class="try-columns">
      <nav aria-label="Operations">
        <TextField
          label="Search operations"
          isLabelHidden
          type="search"
          data-search
          placeholder="Search operations"
          text={search}
        />
        {children}
        <div class="operations">
          {[...Map.groupBy(found, groupOf)].map(([group, members]) => (
            <div key={group}>
              <h2>{group}</h2>
              <ul>
                {members.map((operation) => (
                  <li key={operation.id} title={operation.summary}>
                    {linkTo(operation)}
                    {operation.method && operation.method !== 'GET' && (
                      <span class="quiet"> {operation.method}</span>
                    )}
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
      </nav>
      <section>
        {chosen ? (
          <OperationForm
            key={`${chosen.kind} ${chosen.id}`}
            operation={chosen}
            endpoint={endpointOf(chosen)}
          />
        ) : (
          <EmptyState title="Choose an operation">Requests are real: they can change data.</EmptyState>
        )}
      </section>
    </div>
  );
}

export function isFound({ id, summary }: Pick<Operation, 'id' | 'summary'>, search: string): boolean {
  const text = `${id} ${summary}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const groupOf = ({ kind, group }: Operation): string => `${kind === 'rest' ? 'REST' : 'JSON-RPC'} · ${group}`;
