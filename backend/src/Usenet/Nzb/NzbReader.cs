using System.Runtime.CompilerServices;
using System.Xml;

namespace Sluice.Usenet.Nzb;

/// <summary>Reads an NZB forward only, one file at a time.</summary>
/// <remarks>
/// The format is <c>nzb &gt; head &gt; meta</c> and <c>nzb &gt; file &gt; (groups &gt; group) (segments &gt; segment)</c>.
/// Namespaces and unknown elements are ignored and a DOCTYPE is skipped without resolving anything. Memory holds a few
/// megabytes of the segments of one file, 8 bytes for each of them where they are not in order, and 16 bytes per file to recognise
/// repeated ones.
/// </remarks>
public static class NzbReader
{
    /// <summary>Reads the files of an NZB as the other overload does, and keeps all segments of a file in memory.</summary>
    /// <inheritdoc cref="ReadAsync(Stream, NzbLimits?, NzbHead, Func{Stream}?, CancellationToken)"/>
    public static IAsyncEnumerable<NzbFile> ReadAsync(Stream nzb, NzbLimits? limits, NzbHead head, CancellationToken cancellationToken) =>
        ReadAsync(nzb, limits, head, scratch: null, cancellationToken);

    /// <summary>Reads the files of an NZB, plain or gzip, in document order; what repeats an earlier one is left out.</summary>
    /// <param name="nzb">Readable; stays open. May deliver its bytes in any portions.</param>
    /// <param name="limits">Null for the defaults.</param>
    /// <param name="head">Takes what the NZB says about itself; complete when the enumeration has ended.</param>
    /// <param name="scratch">
    /// Makes a file, readable and writable at any place, for the segments of a file that are too many for the memory; its disposal has
    /// to remove it. Null keeps them in memory.
    /// </param>
    /// <param name="cancellationToken">Gives the reading up.</param>
    /// <exception cref="NzbFormatException">It is no NZB, lists no usable article, or exceeds a limit.</exception>
    /// <exception cref="IOException">The stream or the scratch file failed.</exception>
    public static async IAsyncEnumerable<NzbFile> ReadAsync(
        Stream nzb,
        NzbLimits? limits,
        NzbHead head,
        Func<Stream>? scratch,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(head);
        limits ??= NzbLimits.Default;

        await using var plain = await NzbDecompression.OpenAsync(nzb, limits, cancellationToken);
        using var text = new NzbText(plain, limits.MaxMarkupLength, cancellationToken);
        using var xml = XmlReader.Create(text, new XmlReaderSettings
        {
            Async = true,
            CheckCharacters = false,
            DtdProcessing = DtdProcessing.Ignore,
            IgnoreComments = true,
            IgnoreProcessingInstructions = true,
            IgnoreWhitespace = true,
            NameTable = new NzbNameTable(limits),
            XmlResolver = null,
        });

        using var builder = new NzbFileBuilder(limits, scratch);
        var parser = new NzbParser(xml, limits, head, builder);
        var seen = new HashSet<UInt128>();
        var segments = 0;
        while (await parser.NextAsync() is { } file)
        {
            cancellationToken.ThrowIfCancellationRequested();
            segments += file.Segments.Count;
            if (segments > limits.MaxSegments)
                throw new NzbFormatException(NzbFault.TooLarge, $"more than {limits.MaxSegments} segments");
            if (!seen.Add(file.Fingerprint))
            {
                head.MergedFiles++;
                continue;
            }

            yield return file;
        }

        if (seen.Count == 0)
            throw new NzbFormatException(NzbFault.Empty, "no usable article");
    }
}

/// <summary>The names that the XML reader keeps for good, with a ceiling: a document of invented names must not fill the memory.</summary>
internal sealed class NzbNameTable(NzbLimits limits) : NameTable
{
    private int _count;

    public override string Add(string key)
    {
        if (Get(key) is { } known)
            return known;
        Count(key.Length);
        return base.Add(key);
    }

    public override string Add(char[] key, int start, int len)
    {
        if (Get(key, start, len) is { } known)
            return known;
        Count(len);
        return base.Add(key, start, len);
    }

    private void Count(int length)
    {
        if (length > limits.MaxNameLength)
            throw new NzbFormatException(NzbFault.TooLarge, $"a name of more than {limits.MaxNameLength} characters");
        if (++_count > limits.MaxNames)
            throw new NzbFormatException(NzbFault.TooLarge, $"more than {limits.MaxNames} different names");
    }
}
