using System.Diagnostics;
using SharpCompress.Archives;
using SharpCompress.Archives.Rar;
using SharpCompress.Readers;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Usenet.Tests.Mock.Layouts;

/// <summary>External programs read the archives of the mock and must extract the bytes that the mock declares as truth.</summary>
public sealed class ForeignArchiveTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("layouts-").FullName;

    public static TheoryData<string> Samples => [.. ArchiveSamples.Names];

    // SharpCompress refuses encrypted volumes that do not end with a whole block, files without a CRC, and comments of RAR 4; 7z reads them.
    public static TheoryData<string> Rars =>
    [
        .. ArchiveSamples.Names.Where(name => name.StartsWith("rar", StringComparison.Ordinal)
            && !name.Contains("encrypted", StringComparison.Ordinal) && name is not "rar5 without crc" and not "rar4 with comment and recovery record"),
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [MemberData(nameof(Rars))]
    public void Mock_RAR_set_is_unpacked_by_SharpCompress(string sample)
    {
        var archive = ArchiveSamples.Make(sample);
        using var other = RarArchive.OpenArchive(
            [.. archive.Volumes.Select(volume => new MemoryStream(volume.Bytes.ToArray()))],
            ReaderOptions.ForExternalStream with { Password = ArchiveSamples.Layout(sample).Password });
        var found = other.Entries.Where(entry => entry is { IsDirectory: false, Size: > 0 }).ToDictionary(entry => entry.Key!.Replace('\\', '/'));
        Assert.Equal(archive.Entries.Count(entry => entry.Bytes.Length > 0), found.Count);
        foreach (var entry in archive.Entries.Where(entry => entry.Bytes.Length > 0))
        {
            using var unpacked = new MemoryStream();
            found[entry.Path].WriteTo(unpacked);
            Assert.True(unpacked.ToArray().AsSpan().SequenceEqual(entry.Bytes.ToArray()), $"{entry.Path} is not the truth");
        }
    }

    [Theory]
    [MemberData(nameof(Samples))]
    public async Task Mock_archive_is_unpacked_by_7z(string sample)
    {
        if (sample.StartsWith("rar", StringComparison.Ordinal))
            await RequireRarAsync();
        var archive = ArchiveSamples.Make(sample);
        await UnpackAsync(FirstOf(archive, Save(archive)));
        AssertUnpacked(archive.Entries);
    }

    [Fact]
    public async Task Nested_archive_is_unpacked_by_7z()
    {
        await RequireRarAsync();
        var inner = ArchiveSamples.Make("rar5");
        var outer = (ArchiveSamples.Layout("rar5") with { Entries = inner.AsEntries(), Stem = "outer" }).Make(12, firstStream: 5_000_000);
        await UnpackAsync(FirstOf(outer, Save(outer)));
        await UnpackAsync(Path.Combine(_folder, "out", inner.Volumes[0].Name));
        AssertUnpacked(inner.Entries);
    }

    [Theory]
    [InlineData("rar4")]
    [InlineData("rar5 encrypted with crc")]
    public async Task Wrong_crc_is_detected_by_7z(string sample)
    {
        await RequireRarAsync();
        var layout = ArchiveSamples.Layout(sample);
        var archive = (layout with { Entries = [layout.Entries[0] with { Crc = EntryCrc.Wrong }] }).Make(3);
        var result = await RunAsync("7z", "t", $"-p{ArchiveSamples.Password}", FirstOf(archive, Save(archive)));
        Assert.Contains("CRC Failed", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Wrong_password_is_detected_by_7z()
    {
        await RequireRarAsync();
        var archive = ArchiveSamples.Make("rar5 encrypted");
        var result = await RunAsync("7z", "t", "-pwrong", FirstOf(archive, Save(archive)));
        Assert.Contains("Wrong password", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Missing_last_volume_is_reported_by_7z()
    {
        await RequireRarAsync();
        var archive = (ArchiveSamples.Layout("rar5") with { Unposted = [3] }).Make(3);
        Assert.Equal(3, archive.Volumes.Count);
        var result = await RunAsync("7z", "t", FirstOf(archive, Save(archive)));
        Assert.Contains("film.part4.rar", result.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("rar5 tree")]
    [InlineData("rar4 tree")]
    public async Task Mock_PAR2_index_is_verified_by_par2(string sample)
    {
        var archive = ArchiveSamples.Make(sample);
        var release = new ReleaseBuilder("Some.Film", 11, 20_000).AddArchive(archive).AddFile("film.nfo", 1234).AddPar2(blocks: 5).Build();
        foreach (var file in release.Files)
            Save(file.Name, file.Content!.Bytes);
        Assert.Equal(["Some.Film.par2", "Some.Film.vol000+01.par2", "Some.Film.vol001+02.par2", "Some.Film.vol003+02.par2"], release.Files.Select(file => file.Name).Where(name => name.EndsWith(".par2", StringComparison.Ordinal)));
        var result = await RunAsync("par2", "verify", Path.Combine(_folder, "Some.Film.par2"));
        Assert.True(result.Code == 0, result.Output);
        Assert.Contains("All files are correct", result.Output, StringComparison.Ordinal);
    }

    /// <summary>Skips the test if 7z cannot read RAR, because some distributions remove that code.</summary>
    private static async Task RequireRarAsync() =>
        Assert.SkipUnless((await RunAsync("7z", "i")).Output.Contains("Rar5", StringComparison.Ordinal), "7z was built without RAR");

    private async Task UnpackAsync(string path)
    {
        var result = await RunAsync("7z", "x", "-y", $"-p{ArchiveSamples.Password}", $"-o{Path.Combine(_folder, "out")}", path);
        Assert.True(result.Code == 0, result.Output);
        Assert.DoesNotContain("WARNING", result.Output, StringComparison.OrdinalIgnoreCase);
    }

    private void AssertUnpacked(IReadOnlyList<MockEntry> entries)
    {
        Assert.NotEmpty(entries);
        foreach (var entry in entries)
            Assert.True(File.ReadAllBytes(Path.Combine(_folder, "out", entry.Path)).AsSpan().SequenceEqual(entry.Bytes.ToArray()), $"{entry.Path} is not the truth");
    }

    private IReadOnlyList<string> Save(MockArchive archive) => [.. archive.Volumes.Select(volume => Save(volume.Name, volume.Bytes))];

    private string Save(string name, MockBytes bytes)
    {
        var path = Path.Combine(_folder, name);
        File.WriteAllBytes(path, bytes.ToArray());
        return path;
    }

    // A split zip is opened by its last volume, any other archive by its first.
    private static string FirstOf(MockArchive archive, IReadOnlyList<string> paths) =>
        archive.Volumes[^1].Name.EndsWith(".zip", StringComparison.Ordinal) ? paths[^1] : paths[0];

    private static async Task<(int Code, string Output)> RunAsync(string program, params string[] arguments)
    {
        var onPath = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator).Any(folder => File.Exists(Path.Combine(folder, program)));
        Assert.SkipUnless(onPath, $"{program} is not installed");
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        process.StandardInput.Close();
        var errors = process.StandardError.ReadToEndAsync(Cancelled);
        var output = await process.StandardOutput.ReadToEndAsync(Cancelled) + await errors;
        await process.WaitForExitAsync(Cancelled);
        return (process.ExitCode, output);
    }
}
