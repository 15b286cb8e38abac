namespace Sluice.Usenet.Yenc;

/// <summary>Reads the lines of a raw NNTP body, without dot-stuffing and line ends, from input that may be split anywhere.</summary>
/// <remarks>Used for everything except yEnc data. A bare LF ends a line here and is reported. For NNTP it is no line end, so a dot after it is kept.</remarks>
internal sealed class ArticleLineReader
{
    private readonly byte[] _buffer = new byte[ArticleDecoder.MaxLineLength];
    private int _length;
    private YencContext _context;
    private bool _isComplete;

    /// <summary>The result of <see cref="Read"/>.</summary>
    public enum Answer
    {
        /// <summary>All input is consumed, inside a line.</summary>
        NeedInput,

        Line,

        ArticleEnd,
    }

    /// <summary>The line so far; complete after <see cref="Answer.Line"/>, and valid until the next call.</summary>
    public ReadOnlySpan<byte> Line => _buffer.AsSpan(0, _length);

    /// <summary>Whether the line exceeds the buffer, so that its excess bytes were dropped.</summary>
    public bool IsTooLong { get; private set; }

    /// <summary>Whether the line ended in a bare LF.</summary>
    public bool EndsInBareLineFeed { get; private set; }

    /// <summary>Starts a line whose first bytes a kernel has already consumed. Pass no bytes at the start of a body.</summary>
    public void Start(ReadOnlySpan<byte> consumed)
    {
        StartLine();
        Append(consumed);
        _context = consumed.IsEmpty ? YencContext.LineStart : YencContext.Inside;
    }

    public Answer Read(ReadOnlySpan<byte> source, out int consumed)
    {
        if (_isComplete)
            StartLine();

        var i = 0;
        while (i < source.Length)
        {
            if (_context == YencContext.Inside)
            {
                var rest = source[i..];
                var length = rest.IndexOfAny((byte)'\r', (byte)'\n');
                Append(length < 0 ? rest : rest[..length]);
                i += length < 0 ? rest.Length : length;
                if (length < 0)
                    break;
            }

            var answer = Take(source[i++]);
            if (answer != Answer.NeedInput)
            {
                consumed = i;
                return answer;
            }
        }

        consumed = i;
        return Answer.NeedInput;
    }

    private Answer Take(byte b)
    {
        switch (b)
        {
            case (byte)'\n' when _context == YencContext.DotCr:
                return Answer.ArticleEnd;
            case (byte)'\n':
                EndsInBareLineFeed = _context != YencContext.Cr;
                _context = EndsInBareLineFeed ? YencContext.Inside : YencContext.LineStart;
                _isComplete = true;
                return Answer.Line;
            case (byte)'.' when _context == YencContext.LineStart:
                _context = YencContext.Dot;
                return Answer.NeedInput;
        }

        // The CR before this byte did not belong to a line end.
        if (_context is YencContext.Cr or YencContext.DotCr)
            Append("\r"u8);
        if (b == '\r')
        {
            _context = _context == YencContext.Dot ? YencContext.DotCr : YencContext.Cr;
        }
        else
        {
            Append([b]);
            _context = YencContext.Inside;
        }

        return Answer.NeedInput;
    }

    private void StartLine()
    {
        _length = 0;
        _isComplete = false;
        IsTooLong = false;
        EndsInBareLineFeed = false;
    }

    private void Append(ReadOnlySpan<byte> bytes)
    {
        var room = _buffer.Length - _length;
        if (bytes.Length > room)
        {
            IsTooLong = true;
            bytes = bytes[..room];
        }

        bytes.CopyTo(_buffer.AsSpan(_length));
        _length += bytes.Length;
    }
}
