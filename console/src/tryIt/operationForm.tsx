import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { curlCommand } from '../api/curl.ts';
import { Copy } from '../ui/copy.tsx';
import { confirm } from '../ui/form/confirm.tsx';
import { type Binding, bindingTo, SelectField, TextField } from '../ui/form/fields.tsx';
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
            faults={faults.value}
            text={bindingTo(textOf(field), (text) => {
              edited.value = { ...edited.value, [fieldKey(field)]: text };
            })}
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
  readonly text: Binding;
  readonly faults: readonly Fault[];
}

function FieldInput({ field, text, faults }: FieldInputProps) {
  const { description, isRequired, form, choices, location } = field;
  const name = fieldName(field);
  const label = (
    <>
      <code>{name}</code> {isRequired ? '' : 'optional, '}
      {location === 'header' ? 'header, ' : ''}
      <UntrustedText text={description} />
    </>
  );
  const shared = { name, label, required: isRequired, failure: { faults } };
  if (form === 'json')
    return (
      <TextField {...shared} text={text} rows={Math.min(16, Math.max(2, text.value.split('\n').length))} />
    );
  if (form !== 'choice' && form !== 'flag')
    return <TextField {...shared} text={text} type={form === 'number' ? 'number' : 'text'} />;
  const options = [...(isRequired ? [] : ['']), ...(form === 'flag' ? ['true', 'false'] : choices)];
  return <SelectField {...shared} chosen={text} options={options.map((one) => [one, one])} />;
}
