using System.Globalization;
using System.Text;
using System.Xml;

namespace Sluice.Usenet.Nzb;

/// <summary>Builds files from the events of an XML reader.</summary>
internal sealed class NzbParser(XmlReader xml, NzbLimits limits, NzbHead head, NzbFileBuilder builder)
{
    private char[] _content = new char[1024];
    private int _contentLength;
    private string _subject = "";
    private string _metaType = "";
    private long? _date;
    private long _number;
    private int _bytes;

    // Depth of the open file element, or −1. A file element nested in another is ignored.
    private int _fileDepth = -1;

    /// <summary>Returns the next file with a usable segment, or null at the end of the document.</summary>
    public async ValueTask<NzbFile?> NextAsync()
    {
        try
        {
            while (await xml.ReadAsync())
            {
                if (await TakeAsync() is { } file)
                    return file;
            }

            return null;
        }
        catch (XmlException broken)
        {
            throw new NzbFormatException(NzbFault.NotAnNzb, $"malformed XML in line {broken.LineNumber}", broken);
        }
    }

    private async ValueTask<NzbFile?> TakeAsync()
    {
        switch (xml.NodeType)
        {
            case XmlNodeType.Element:
                var isEmpty = xml.IsEmptyElement;
                var (name, depth) = (xml.LocalName, xml.Depth);
                StartElement(name, depth);
                return isEmpty ? EndElement(name, depth) : null;
            case XmlNodeType.EndElement:
                return EndElement(xml.LocalName, xml.Depth);
            case XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.SignificantWhitespace:
                await TakeContentAsync();
                return null;
            default:
                return null;
        }
    }

    private void StartElement(string name, int depth)
    {
        if (depth == 0 && name != "nzb")
            throw new NzbFormatException(NzbFault.NotAnNzb, $"XML of the kind {Shorten(name)}");
        if (depth >= limits.MaxDepth)
            throw TooLarge($"elements deeper than {limits.MaxDepth}");

        _contentLength = 0;
        var isFile = name == "file" && _fileDepth < 0;
        ReadAttributes(name, isFile);
        if (isFile)
        {
            if (++head.Files > limits.MaxFiles)
                throw TooLarge($"more than {limits.MaxFiles} files");
            _fileDepth = depth;
            builder.Start(_subject, ToDate(_date));
        }
    }

    private NzbFile? EndElement(string name, int depth)
    {
        NzbFile? file = null;
        if (depth == _fileDepth)
        {
            _fileDepth = -1;
            file = builder.Build();
        }
        else if (name == "segment" && _fileDepth >= 0)
        {
            TakeSegment();
        }
        else if (name == "group" && _fileDepth >= 0)
        {
            builder.AddGroup(new string(_content, 0, _contentLength));
        }
        else if (name == "meta" && _fileDepth < 0)
        {
            head.Add(_metaType, new string(_content, 0, _contentLength));
        }

        _contentLength = 0;
        return file;
    }

    // Converts ids from characters to bytes without a string, because there are millions.
    private void TakeSegment()
    {
        if (++head.Segments > limits.MaxSegments)
            throw TooLarge($"more than {limits.MaxSegments} segments");

        Span<byte> utf8 = stackalloc byte[2 * MessageId.MaxLength];
        var text = _content.AsSpan(0, _contentLength).Trim();
        if (Encoding.UTF8.TryGetBytes(text, utf8, out var length) && MessageId.TryFind(utf8[..length], out var id))
            builder.AddSegment(id, _number, _bytes);
        else
            head.DroppedSegments++;
    }

    // Checks the length of every attribute, even of ignored elements.
    private void ReadAttributes(string element, bool isFile)
    {
        if (isFile)
            (_subject, _date) = ("", null);
        else if (element == "segment")
            (_number, _bytes) = (0, 0);
        else if (element == "meta")
            _metaType = "";

        while (xml.MoveToNextAttribute())
        {
            var value = xml.Value;
            if (value.Length > limits.MaxAttributeLength)
                throw TooLarge($"an attribute of more than {limits.MaxAttributeLength} characters");

            switch (xml.LocalName)
            {
                case "subject" when isFile:
                    if (Encoding.UTF8.GetByteCount(value) > limits.MaxSubjectBytes)
                        throw TooLarge($"a subject of more than {limits.MaxSubjectBytes} bytes");
                    _subject = value;
                    break;
                case "date" when isFile:
                    _date = ToNumber(value);
                    break;
                case "number" when element == "segment":
                    _number = ToNumber(value) ?? 0;
                    break;
                case "bytes" when element == "segment":
                    _bytes = ToNumber(value) is { } bytes and > 0 and <= int.MaxValue ? (int)bytes : 0;
                    break;
                case "type" when element == "meta":
                    _metaType = value;
                    break;
            }
        }

        xml.MoveToElement();
    }

    private async ValueTask TakeContentAsync()
    {
        int read;
        while ((read = await xml.ReadValueChunkAsync(_content, _contentLength, _content.Length - _contentLength)) > 0)
        {
            _contentLength += read;
            if (_contentLength > limits.MaxContentLength)
                throw TooLarge($"an element of more than {limits.MaxContentLength} characters");
            if (_contentLength == _content.Length)
                Array.Resize(ref _content, 2 * _content.Length);
        }
    }

    private static long? ToNumber(string text) =>
        long.TryParse(text, NumberStyles.AllowLeadingSign | NumberStyles.AllowLeadingWhite | NumberStyles.AllowTrailingWhite, CultureInfo.InvariantCulture, out var number)
            ? number
            : null;

    // Seconds since 1970. Posting programs write 0 or less if they have no date.
    private static DateTimeOffset? ToDate(long? seconds) =>
        seconds is > 0 and <= 253_402_300_799 ? DateTimeOffset.FromUnixTimeSeconds(seconds.Value) : null;

    private static string Shorten(string name) => name.Length <= 32 ? name : name[..32];

    private static NzbFormatException TooLarge(string what) => new(NzbFault.TooLarge, what);
}
