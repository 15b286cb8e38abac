using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Structure of a large NZB.</summary>
public enum NzbShape
{
    /// <summary>All articles in one file.</summary>
    OneFile,

    /// <summary>The maximum number of files.</summary>
    ManyFiles,

    /// <summary>Subjects of maximum length.</summary>
    LongSubjects,

    /// <summary>Message-ids of maximum length.</summary>
    LongIds,

    /// <summary>Mostly white space between the elements.</summary>
    Indented,
}

/// <summary>An NZB of any shape is accepted and read with little memory (F22, IMP-11). Times are printed and not asserted.</summary>
[Collection(EndToEndRun.Name)]
public sealed partial class NzbShapeTests
{
    private const int MaxFiles = 50_000;

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public Task F22_24_MiB_NZB_of_any_shape_takes_at_most_64_MiB() => AddAsync(24L << 20);

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public Task F22_200_MiB_NZB_of_any_shape_takes_at_most_64_MiB() => AddAsync(200L << 20);

    private static async Task AddAsync(long bytes)
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        // A first import warms up the code.
        await AddAsync(set, NzbShape.ManyFiles, 1 << 20, cancel);
        foreach (var shape in Enum.GetValues<NzbShape>())
            await HugeNzbTests.Grows(set, shape.ToString(), () => AddAsync(set, shape, bytes, cancel));
    }

    private static async Task AddAsync(MockedServer set, NzbShape shape, long bytes, CancellationToken cancel)
    {
        var clock = Stopwatch.StartNew();
        await using var nzb = new GeneratedTextStream(Pieces(shape, bytes));
        var id = await set.Client.AddFileAsync("movies", $"{shape} {bytes}", nzb, cancel);
        var accepted = clock.Elapsed;

        // The NZB has no playable file, so the import ends once it has been read.
        var entry = await set.Client.FinishedAsync(id, cancel);
        Assert.Equal("The release holds no video or audio file.", entry.FailMessage);
        var read = ReadStep().Match(await set.Client.StagesAsync(id, cancel));
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"{shape}, {nzb.BytesRead >> 20} MiB: accepted in {accepted.TotalSeconds:F1} s, {read.Value}"));
        Assert.True(read.Success);
    }

    private static IEnumerable<string> Pieces(NzbShape shape, long bytes)
    {
        yield return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\">\n";
        var (written, number) = (0L, 0);
        for (var file = 0; file < MaxFiles && written < bytes; file++)
        {
            var subject = $"&quot;Some.Release.{file}.par2&quot; yEnc (1/9) ".PadRight(shape == NzbShape.LongSubjects ? 4000 : 0, 's');
            var head = $"<file poster=\"p\" date=\"1795288940\" subject=\"{subject}\"><groups><group>a.b.t</group></groups><segments>\n";
            yield return head;
            written += head.Length;
            var end = shape == NzbShape.OneFile ? bytes : bytes * (file + 1) / MaxFiles;
            var part = 0;
            do
            {
                var segment = Segment(shape, ++number, ++part);
                yield return segment;
                written += segment.Length;
            }
            while (written < end && part < 2_400_000);
            yield return "</segments></file>\n";
        }

        yield return "</nzb>";
    }

    private static string Segment(NzbShape shape, int number, int part)
    {
        var id = string.Create(CultureInfo.InvariantCulture, $"{unchecked(number * 2654435761L):x16}{number:x8}@news.example");
        if (shape == NzbShape.LongIds)
            id = id.PadLeft(248, 'x');
        var space = shape == NzbShape.Indented ? new string(' ', 400) : " ";
        return string.Create(CultureInfo.InvariantCulture, $"{space}<segment bytes=\"716800\" number=\"{part}\">{id}</segment>\n");
    }

    [GeneratedRegex(@"ReadNzb \d+ ms, [^""]*")]
    private static partial Regex ReadStep();
}
