using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>The setup code proves access to the log or data folder (S7). A file keeps the code across restarts until an administrator exists.</summary>
/// <remarks>Thread-safe after <see cref="Begin"/>.</remarks>
internal sealed class SetupCode(DataFolder folder, ProcessOptions process, LogRedactor redactor)
{
    private readonly CodeFile _code = new(Path.Combine(folder.Root, "setup-code"), redactor);

    /// <summary>The code; null if none is required.</summary>
    public string? Current => _code.Current;

    /// <summary>Reads the code from the environment or its file, or generates one.</summary>
    public void Begin() => _code.Begin(process.SetupCode, continues: true);

    /// <summary>Removes the code, because an administrator now exists.</summary>
    public void End() => _code.End();

    public bool Is(string text) => _code.Is(text);
}
