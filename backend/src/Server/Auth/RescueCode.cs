using System.Globalization;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// The code that opens <c>/rescue</c>, because logins are in the database, which safe mode does not use (OPS-14). It is generated and printed when safe mode
/// begins. A file in the data folder keeps the code until the process ends. Thread-safe.
/// </summary>
internal sealed class RescueCode(
    DataFolder folder, SafeMode safeMode, ProcessOptions process, ReservedPort port, LogRedactor redactor, ILogger<RescueCode> logger) : IWorker
{
    private readonly CodeFile _code = new(Path.Combine(folder.Root, "rescue-code"), redactor);

    public string Name => "the code of safe mode";

    public bool Is(string text) => _code.Is(text);

    /// <summary>Removes the code of an earlier safe mode. If this startup is in safe mode, generates a new code before any client can send one.</summary>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        _code.End();
        if (safeMode.IsOn)
            await BeginAsync();
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        await safeMode.Entered.WaitAsync(stopping);
        if (_code.Current is null)
            await BeginAsync();
    }

    private async Task BeginAsync()
    {
        var code = _code.Begin(given: null, continues: false);
        AuthLog.RescueNeeded(logger);
        // Bypass the log, because it masks the code. In a container, the host name that the browser uses is unknown.
        await Console.Out.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture, $"Restore a backup in a browser: {(process.UsesTls ? "https" : "http")}://<this machine>:{process.PublishedPort ?? port.Number}/rescue#{code}"));
    }
}
