import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { curlCommand } from '../api/curl.ts';
import { Copy } from '../ui/copy.tsx';
import { confirm } from '../ui/form/confirm.tsx';
import { Lines } from '../ui/lines.tsx';
import { UntrustedText } from '../ui/value/untrustedText.tsx';
import { AnswerView } from './answerView.tsx';
import type { Field, Operation } from './operations.ts';
import { type Endpoint, type Fault, fieldKey, fieldName, requestOf, type Values } from './request.ts';
import { type SentResponse, send, shownText } from './send.ts';

interface OperationFormProps {
  readonly operation: Operation;
  readonly endpoint: Endpoint;
}

export function OperationForm({ operation, endpoint }: OperationFormProps) {
  const edited = useSignal<Values>({});
  const faults = useSignal<readonly Fault[]>([]);
  const answer = useSignal<SentResponse | undefined>(undefined);
  const isBusy = useSignal(false);
  const textOf = (field: Field): string => edited.value[fieldKey(field)] ?? field.initialText;
  const made = () => {
    const values = Object.fromEntries(operation.fields.map((field) => [fieldKey(field), textOf(field)]));
    return requestOf(operation, endpoint, values);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const result = made();
    faults.value = 'faults' in result ? result.faults : [];
    if ('faults' in result || !(await isConfirmed(operation))) return;
    isBusy.value = true;
    answer.value = await send(result.request, endpoint.isInSession);
    isBusy.value = false;
  };
  const curl = (): string => {
    const result = made();
    if ('request' in result) return curlCommand(result.request, endpoint.variable);
    return `# ${result.faults.map(({ field, message }) => `${field} ${message}`).join(', ')}`;
  };
  return (
    <div class="operation">
      <Heading text={operation.summary} />
      <p class="quiet">
        <code>{operation.kind === 'rest' ? `${operation.method} ${operation.path}` : operation.id}</code>{' '}
        {operation.description}
      </p>
      <form onSubmit={submit} noValidate>
        {operation.fields.map((field) => (
          <FieldInput
            key={fieldKey(field)}
            field={field}
            value={textOf(field)}
            problem={faults.value.find((fault) => fault.field === fieldName(field))?.message}
            set={(value) => {
              edited.value = { ...edited.value, [fieldKey(field)]: value };
            }}
          />
        ))}
        <p class="harm" role="status">
          {faults.value.length > 0 && '✕ Nothing was sent: see the fields above.'}
        </p>
        <div class="actions">
          <Copy label="Copy as curl" text={curl} />
          <button type="submit" class="primary" disabled={isBusy.value}>
            Send
          </button>
        </div>
      </form>
      {answer.value && <AnswerView answer={answer.value} />}
      {Object.entries(operation.details).map(
        ([title, value]) => value !== undefined && <Folded key={title} title={title} value={value} />,
      )}
    </div>
  );
}

/** Heading that takes the focus from the link that opened the form, for users of keyboards and screen readers. */
function Heading({ text }: { readonly text: string }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement instanceof HTMLAnchorElement) element.current?.focus();
  }, []);
  return (
    <h2 ref={element} tabIndex={-1}>
      {text}
      {!text.endsWith('.') && '.'}
    </h2>
  );
}

/** Text that is rendered only when the user opens it, because schemas of traces are long. */
function Folded({ title, value }: { readonly title: string; readonly value: unknown }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen.value && <Lines text={shownText(JSON.stringify(value))} />}
    </details>
  );
}

async function isConfirmed({ method, id, summary }: Operation): Promise<boolean> {
  if (method !== 'DELETE') return true;
  return confirm({
    title: `Send ${id}?`,
    text: `${summary}. The request changes real data.`,
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

function FieldInput({ field, value, problem, set }: FieldInputProps) {
  const { description, isRequired, form, choices, location } = field;
  const id = useId();
  const common = {
    ...{ id, value, name: fieldName(field), autocomplete: 'off', spellcheck: false },
    ...{ 'aria-invalid': problem !== undefined, 'aria-required': isRequired },
  } as const;
  return (
    <label class="field" for={id}>
      <span>
        <code>{fieldName(field)}</code> {isRequired ? '' : 'optional, '}
        {location === 'header' ? 'header, ' : ''}
        <UntrustedText text={description} />
        {problem && (
          <strong class="harm">
            {' '}
            ✕ <UntrustedText text={problem} />
          </strong>
        )}
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
