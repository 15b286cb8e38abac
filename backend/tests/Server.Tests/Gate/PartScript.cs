using System.Globalization;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Gate;

/// <summary>Runs <c>tools/parts.sh</c> in this working copy or in another one.</summary>
/// <param name="root">The folder above <c>tools</c>.</param>
internal sealed class PartScript(string root)
{
    public static PartScript OfThisCopy { get; } = new(Repository.Root);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Reads the rows of the table.</summary>
    public async Task<List<PartRow>> TableAsync() =>
        [.. (await LinesAsync("--table")).Select(cells => new PartRow(cells[0], int.Parse(cells[1], CultureInfo.InvariantCulture), cells[2].Split(' ')))];

    /// <summary>Returns the choices by the name of the part.</summary>
    public async Task<Dictionary<string, PartChoice>> ChooseAsync() =>
        (await LinesAsync()).ToDictionary(cells => cells[0], cells => new PartChoice(cells[1] == "yes", cells[2], cells[4]));

    public Task PassAsync(string part, string hash) => LinesAsync("--passed", part, hash);

    private async Task<List<string[]>> LinesAsync(params string[] arguments)
    {
        var result = (await ExternalProgram.RunAsync("bash", [Path.Combine(root, "tools/parts.sh"), .. arguments], null, Token)).Succeeded();
        Assert.Empty(result.Errors);
        return [.. result.Text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line.Split('\t'))];
    }
}

/// <summary>One row of the table of parts.</summary>
/// <param name="Name">Name of the part.</param>
/// <param name="Minutes">Its duration on two idle cores.</param>
/// <param name="Paths">Paths below the root of the repository, with patterns.</param>
internal sealed record PartRow(string Name, int Minutes, IReadOnlyList<string> Paths);

/// <summary>Whether a part runs.</summary>
/// <param name="Runs">Whether it is due or its turn has come.</param>
/// <param name="Why">The reason.</param>
/// <param name="Hash">Hash of the content of its paths; a hyphen if there is no history.</param>
internal sealed record PartChoice(bool Runs, string Why, string Hash);
