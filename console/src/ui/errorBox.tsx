import type { Failure } from '../api/failure.ts';
import { UntrustedText } from './value/untrustedText.tsx';

interface ErrorBoxProps {
  readonly failure: Failure;
  readonly retry?: () => void;
  /** Whether the box covers the page, which still shows earlier data. */
  readonly isOver?: boolean;
}

export function ErrorBox({ failure, retry, isOver }: ErrorBoxProps) {
  return (
    <div class={isOver ? 'error-box over' : 'error-box'} role="alert">
      <p>
        <strong class="harm">✕ {failure.what}</strong> {failure.still} {failure.todo}
      </p>
      {failure.faults.length > 0 && (
        <ul>
          {failure.faults.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              {field !== undefined && !message.startsWith(field) && <UntrustedText as="code" text={field} />}{' '}
              <UntrustedText text={message} />
            </li>
          ))}
        </ul>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
