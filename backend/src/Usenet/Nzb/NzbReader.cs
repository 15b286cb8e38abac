using System.Runtime.CompilerServices;
using System.Xml;

namespace Sluice.Usenet.Nzb;

/// <summary>Reads an NZB forward-only, one file at a time.</summary>
/// <remarks>
/// The format is <c>nzb &gt; head &gt; meta</c> and <c>nzb &gt; file &gt; (groups &gt; group) (segments &gt; segment)</c>.
/// Ignores namespaces and unknown elements, and skips a DOCTYPE without resolving anything. Memory holds a few megabytes of one file's segments, 8 bytes per
/// segment if they are out of order, and 16 bytes per file to detect repeated files.
/// </remarks>
public static class NzbReader
{
    /// <summary>Reads the files of an NZB like the other overload, but keeps all segments of a file in memory.</summary>
    /// <inheritdoc cref="ReadAsync(Stream, NzbLimits?, NzbHead, Func{Stream}?, CancellationToken)"/>
    public static IAsyncEnumerable<NzbFile> ReadAsync(Stream nzb, NzbLimits? limits, NzbHead head, CancellationToken cancellationToken) =>
        ReadAsync(nzb, limits, head, scratch: null, cancellationToken);

    /// <summary>Reads the files of an NZB, plain or gzip, in document order; skips repeated files.</summary>
    /// <param name="nzb">A readable stream; stays open.</param>
    /// <param name="limits">Null for the defaults.</param>
    /// <param name="head">Receives the metadata; complete once the enumeration has ended.</param>
    /// <param name="scratch">Creates a seekable scratch file if the segments exceed the memory limit; disposal deletes it. If null, all stay in memory.</param>
    /// <exception cref="NzbFormatException">The input is not an NZB, lists no usable article, or exceeds a limit.</exception>
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

/// <summary>A limited name table, because an XML reader keeps every name and a document of invented names could exhaust memory.</summary>
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
