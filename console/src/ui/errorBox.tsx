import type { Failure } from '../api/failure.ts';
import { Plain } from './plain.tsx';

/** What happened, what is still true, what to do; and what the server says, field by field. */
export function ErrorBox({ failure, retry }: { readonly failure: Failure; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <p>
        <strong>✕ {failure.what}</strong> {failure.still} {failure.todo}
      </p>
      {failure.faults.length > 0 && (
        <ul>
          {failure.faults.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              {field !== undefined && !message.startsWith(field) && (
                <code>
                  <Plain text={field} />
                </code>
              )}{' '}
              <Plain text={message} />
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
