using System.Runtime.Intrinsics.X86;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Each build for a level of CPU instructions: the started executable runs the build that <c>SLUICE_INSTRUCTIONS</c> selects.</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
[Trait(ServerForm.Trait, ServerForm.Ahead)]
public sealed class InstructionTests
{
    private const int Piece = 1_000_000;
    private static readonly string[] Levels = [$"{ServerForm.AheadFile}.v3", $"{ServerForm.AheadFile}.v4"];
    private static readonly SyntheticFilm Film = new(44, 8 * Piece, 716_800);

    [Theory]
    [InlineData("v2", "x86-64-v2. Decoding with Vector128")]
    [InlineData("v3", "x86-64-v3. Decoding with AVX2")]
    [InlineData("v4", "x86-64-v4. Decoding with AVX-512 VBMI2")]
    public async Task F44_Each_build_uses_its_kernels_and_reads_correct_bytes(string level, string named)
    {
        var cancel = TestContext.Current.CancellationToken;
        Assert.SkipUnless(File.Exists(ServerForm.AheadFile), "the server is not compiled ahead here");
        Assert.SkipUnless(Levels.Any(File.Exists) || !Avx2.IsSupported, "the server is compiled for this machine alone here");
        Assert.SkipUnless(level == "v2" || File.Exists($"{ServerForm.AheadFile}.{level}"), $"the server is not compiled for {level} here");
        Assert.SkipUnless(level == "v2" || (level == "v3" ? Avx2.IsSupported : Avx512Vbmi2.IsSupported), $"this CPU does not have {level}");

        await using var set = await MockedServer.StartAsync(new MockOptions(), new Dictionary<string, string> { ["SLUICE_INSTRUCTIONS"] = level }, cancel);
        await Film.PublishAsync(set.Client, cancel);
        using var answer = await set.Client.OpenAsync(Film.Path, 0, Film.Size - 1, cancel);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var piece = new byte[Piece];
        for (var offset = 0L; offset < Film.Size; offset += piece.Length)
        {
            await body.ReadExactlyAsync(piece, cancel);
            Film.AssertEqual(offset, piece);
        }

        await set.Server.LineAsync(line => line.Contains($"Compiled for {named}", StringComparison.Ordinal), cancel);
    }
}
