using System.Globalization;
using Sluice.Testing;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>An NZB of any size that is generated while it is read.</summary>
internal static class GeneratedNzb
{
    /// <summary>Returns an NZB of files with equally many segments, in order.</summary>
    public static GeneratedTextStream Of(int files, int segments) => new(
        Whole(Enumerable.Range(0, files).SelectMany(file => File(file, Enumerable.Range(1, segments).Select(number => Segment(number, $"{file}x{number}"))))));

    /// <summary>Returns an NZB of one file with the given segments.</summary>
    public static GeneratedTextStream Of(IEnumerable<string> segments) => new(Whole(File(0, segments)));

    /// <summary>Returns the text of a segment.</summary>
    public static string Segment(int? number, string id) => string.Create(
        CultureInfo.InvariantCulture, $"<segment bytes=\"740000\" number=\"{number}\">QwErTyUiOpAsDfGhJkL{id}-1795288940143@nyuu</segment>\n");

    private static IEnumerable<string> Whole(IEnumerable<string> files) => files
        .Prepend("<?xml version=\"1.0\" encoding=\"utf-8\"?><nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\">")
        .Append("</nzb>");

    private static IEnumerable<string> File(int file, IEnumerable<string> segments) => segments
        .Prepend($"<file poster=\"p\" date=\"1795288940\" subject=\"&quot;f{file}.mkv&quot; yEnc (1/1)\"><groups><group>a.b.t</group></groups><segments>\n")
        .Append("</segments></file>\n");
}
