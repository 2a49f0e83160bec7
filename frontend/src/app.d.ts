declare global {
  namespace App {
    interface PageState {
      /** The file shown in the viewer; the address stays that of its folder, and "back" closes it. */
      viewing?: string;
    }
  }
}
export {};
