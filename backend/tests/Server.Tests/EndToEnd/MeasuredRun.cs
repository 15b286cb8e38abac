using System.Text.Json;
using Sluice.Testing;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>One run of <c>tools/measure.sh</c> against the server in the form of the running test.</summary>
internal static class MeasuredRun
{
    /// <summary>Measures, and fails the test unless the tool passes every check.</summary>
    /// <param name="flags">Flags of FullNzbTester.</param>
    /// <param name="settings">Settings of the server, as environment variables.</param>
    /// <param name="cancel">Cancels the run.</param>
    /// <returns>The result as JSON.</returns>
    public static async Task<JsonElement> RunAsync(IEnumerable<string> flags, IReadOnlyDictionary<string, string>? settings, CancellationToken cancel)
    {
        using var folder = new ScratchFolder();
        var json = folder.File("result.json");
        // Tests and tools are built with the same configuration: .../bin/<configuration>/net10.0/.
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var variables = new Dictionary<string, string>(settings ?? new Dictionary<string, string>())
        {
            ["BUILD"] = "no",
            ["CONFIGURATION"] = configuration,
            ["SERVER"] = ServerForm.Executable,
        };
        var result = await ExternalProgram.RunAsync(Repository.PathOf("tools/measure.sh"), [.. flags, $"--json={json}"], variables, cancel);
        Xunit.Assert.True(result.ExitCode == 0, $"exit code {result.ExitCode}: {result.Text}{result.Errors}");
        using var document = JsonDocument.Parse(await File.ReadAllBytesAsync(json, cancel));
        return document.RootElement.Clone();
    }
}
