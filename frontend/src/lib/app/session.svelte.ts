import { csrfToken, get, post, send } from '$lib/api/client';
import type { User } from '$lib/api/types';

const HINT = 'welkin.signedIn';

function remember(signedIn: boolean) {
  try {
    if (signedIn) localStorage.setItem(HINT, '1');
    else localStorage.removeItem(HINT);
  } catch {
    // Then the server is asked each time.
  }
}

/** Who is signed in here. */
class SessionState {
  user = $state.raw<User | null>(null);
  home = $state.raw<{ id: string } | null>(null);

  /** Nobody can be: this browser has neither a session's cookie nor the memory of one that could be renewed. */
  get surelyNobody() {
    try {
      return !csrfToken() && !localStorage.getItem(HINT);
    } catch {
      return false;
    }
  }
  /** Signed out, or found to be. */
  forget() {
    remember(false);
    this.user = null;
    this.home = null;
  }
  /** @throws ApiError 401 when nobody is */
  async load() {
    const [user, roots] = await Promise.all([get<User>('/auth/me'), get<{ id: string }[]>('/folders')]);
    this.user = user;
    this.home = roots[0] ?? null;
    remember(true);
  }
  async refreshUser() {
    this.user = await get<User>('/auth/me');
  }
  async signIn(username: string, password: string) {
    await send('/auth/login', { method: 'POST', json: { username, password }, final: true });
    await this.load();
  }
  async signOut() {
    await post('/auth/logout').catch(() => {});
    this.forget();
  }
  get isAdmin() {
    return this.user?.role === 'admin';
  }
  get name() {
    return this.user?.display_name || this.user?.username || '';
  }
}
export const session = new SessionState();
