using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Short ways to write an NZB and to read it completely.</summary>
internal static class NzbSource
{
    public static string Document(params string[] files) =>
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        + "<!DOCTYPE nzb PUBLIC \"-//newzBin//DTD NZB 1.1//EN\" \"http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd\">\n"
        + "<nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\">\n" + string.Concat(files) + "</nzb>\n";

    public static string File(string subject, params string[] segments) =>
        $"<file poster=\"p\" date=\"1795288940\" subject=\"{subject}\"><groups><group>alt.binaries.test</group></groups><segments>"
        + string.Concat(segments) + "</segments></file>\n";

    public static string Segment(object number, string id, object? bytes = null) =>
        $"<segment bytes=\"{bytes ?? 740_000}\" number=\"{number}\">{id}</segment>";

    public static Task<List<NzbFile>> ReadAsync(string nzb, NzbHead? head = null, NzbLimits? limits = null) =>
        ReadAsync(new MemoryStream(Encoding.UTF8.GetBytes(nzb)), head, limits);

    public static Task<List<NzbFile>> ReadAsync(byte[] nzb, int first = int.MaxValue, int rest = int.MaxValue) =>
        ReadAsync(new CutStream(nzb, first, rest));

    public static async Task<List<NzbFile>> ReadAsync(Stream nzb, NzbHead? head = null, NzbLimits? limits = null)
    {
        var files = new List<NzbFile>();
        await foreach (var file in NzbReader.ReadAsync(nzb, limits, head ?? new NzbHead(), TestContext.Current.CancellationToken))
            files.Add(file with { Segments = [.. file.Segments] });
        return files;
    }

    public static async Task<NzbFormatException> RefusalAsync(string nzb, NzbLimits? limits = null) =>
        await Assert.ThrowsAsync<NzbFormatException>(() => ReadAsync(nzb, limits: limits));

    /// <summary>Describes a list of files in words, with every relevant detail.</summary>
    public static string Describe(IEnumerable<NzbFile> files) => string.Join('\n', files.Select(Describe));

    public static string Describe(NzbFile file) =>
        $"{file.Subject}|{file.Date:O}|{string.Join(',', file.Groups)}|{file.Holes}|"
        + string.Join(' ', file.Segments.Select(segment =>
            segment.IsHole ? "-" : string.Join('+', segment.Ids.Fallbacks.Prepend(segment.Ids.Primary))));
}
