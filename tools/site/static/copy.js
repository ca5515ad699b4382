// A button on each block of code that copies its text. Lines that begin with "$ " are commands: only these are copied, without the sign.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const code = block.querySelector("pre");
    if (!code) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const commands = code.textContent.split("\n").filter(line => line.startsWith("$ ")).map(line => line.slice(2));
      const text = commands.length ? commands.join("\n") : code.textContent.trimEnd();
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code); // the browser refuses the clipboard: the reader copies the selection
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
});
