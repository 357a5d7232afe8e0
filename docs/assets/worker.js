/* Search runs in a worker, and browsers start none for pages opened as files.
   There, a hidden frame does the same work. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      const script = new URL(url, location.href).href;
      frame.hidden = true;
      frame.srcdoc =
        "<script>window.postMessage = data => parent.postMessage(data, '*')<\/script>" +
        `<script src="${script}"><\/script>`;
      this.ready = new Promise((done) => frame.addEventListener("load", done));
      this.frame = frame;
      window.addEventListener("message", (event) => {
        if (event.source === frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }
  };
}
