import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { type Call, curlOf } from '../../api/client.ts';
import { curlOfRpc, type RpcCall } from '../../api/rpc.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Plain } from '../../ui/plain.tsx';
import { AnswerView } from './answerView.tsx';
import type { Field, Operation } from './operations.ts';
import { type BadField, fieldKey, firstValues, restCall, rpcCall, type Values } from './request.ts';
import { type RawAnswer, sendRest, sendRpc } from './send.ts';

interface OperationFormProps {
  readonly operation: Operation;
  readonly network: string | undefined;
}

export function OperationForm({ operation, network = '' }: OperationFormProps) {
  const values = useSignal<Values>(firstValues(operation));
  const bad = useSignal<readonly BadField[]>([]);
  const answer = useSignal<RawAnswer | undefined>(undefined);
  const isBusy = useSignal(false);
  const made = (): Call | RpcCall | readonly BadField[] =>
    operation.kind === 'rest' ? restCall(operation, values.value) : rpcCall(operation, values.value, network);
  const isCall = (request: Call | RpcCall | readonly BadField[]): request is Call | RpcCall =>
    !Array.isArray(request);
  const submit = async (event: Event) => {
    event.preventDefault();
    const request = made();
    bad.value = isCall(request) ? [] : request;
    if (!isCall(request) || !(await isWanted(operation))) return;
    isBusy.value = true;
    answer.value = 'network' in request ? await sendRpc(request) : await sendRest(request);
    isBusy.value = false;
  };
  const curl = (): string => {
    const request = made();
    if (!isCall(request)) return `# ${request.map(({ field, message }) => `${field} ${message}`).join(', ')}`;
    return 'network' in request ? curlOfRpc(request) : curlOf(request);
  };
  return (
    <div class="operation">
      <h2>
        {operation.summary}
        {!operation.summary.endsWith('.') && '.'}
      </h2>
      <p class="quiet">
        <code>{operation.kind === 'rest' ? `${operation.method} ${operation.path}` : operation.id}</code>{' '}
        {operation.description}
      </p>
      <form onSubmit={submit} noValidate>
        {operation.fields.map((field) => (
          <FieldInput
            key={fieldKey(field)}
            field={field}
            value={values.value[fieldKey(field)] ?? ''}
            problem={bad.value.find((one) => one.field === (field.name || 'body'))?.message}
            set={(value) => {
              values.value = { ...values.value, [fieldKey(field)]: value };
            }}
          />
        ))}
        <div class="actions">
          <Copy label="Copy as curl" text={curl} />
          <button type="submit" class="primary" disabled={isBusy.value}>
            Send
          </button>
        </div>
      </form>
      {answer.value && <AnswerView answer={answer.value} />}
    </div>
  );
}

/** What takes away asks once. */
async function isWanted({ method, id, summary }: Operation): Promise<boolean> {
  if (method !== 'DELETE') return true;
  return confirm({
    title: `${id}?`,
    text: `${summary}. What you send is real.`,
    action: 'Send it',
    isHarmful: true,
  });
}

interface FieldInputProps {
  readonly field: Field;
  readonly value: string;
  readonly problem: string | undefined;
  readonly set: (value: string) => void;
}

function FieldInput({
  field: { name, description, isRequired, form, choices, place },
  value,
  problem,
  set,
}: FieldInputProps) {
  const id = useId();
  const common = {
    id,
    name: name || 'body',
    value,
    'aria-invalid': problem !== undefined,
    autocomplete: 'off',
    spellcheck: false,
  } as const;
  return (
    <label class="field" for={id}>
      <span>
        <code>{name || 'body'}</code> {isRequired ? '' : 'optional, '}
        {place === 'header' ? 'header, ' : ''}
        <Plain text={description} />
        {problem && <strong class="harm"> ✕ {problem}</strong>}
      </span>
      {form === 'choice' || form === 'flag' ? (
        <select {...common} onChange={(event) => set(event.currentTarget.value)}>
          {!isRequired && <option value="" />}
          {(form === 'flag' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : form === 'json' ? (
        <textarea
          {...common}
          rows={Math.min(16, Math.max(2, value.split('\n').length))}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          type={form === 'number' ? 'number' : 'text'}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </label>
  );
}
