namespace Sluice.Usenet.Yenc;

/// <summary>
/// Walks the <c>key=value</c> fields of a keyword line. Any number of spaces and tabs separates them; tokens without
/// <c>=</c> are passed over.
/// </summary>
internal ref struct YencFields
{
    private readonly bool _nameEndsLine;
    private ReadOnlySpan<byte> _rest;

    /// <summary>Starts after the keyword.</summary>
    /// <param name="fields">The line without its keyword and line end.</param>
    /// <param name="nameEndsLine">True where <c>name=</c> runs to the end of the line, with spaces, quotes and <c>=</c>.</param>
    public YencFields(ReadOnlySpan<byte> fields, bool nameEndsLine)
    {
        _rest = fields;
        _nameEndsLine = nameEndsLine;
    }

    public ReadOnlySpan<byte> Key { get; private set; }

    public ReadOnlySpan<byte> Value { get; private set; }

    /// <summary>Moves to the next field.</summary>
    public bool MoveNext()
    {
        while (true)
        {
            _rest = _rest.TrimStart(YencLineParser.Blanks);
            if (_rest.IsEmpty)
                return false;

            var length = _rest.IndexOfAny(YencLineParser.Blanks);
            var token = length < 0 ? _rest : _rest[..length];
            var equals = token.IndexOf((byte)'=');
            if (equals < 0)
            {
                _rest = _rest[token.Length..];
                continue;
            }

            Key = token[..equals];
            if (_nameEndsLine && Is("name"u8))
                token = _rest;
            Value = token[(equals + 1)..];
            _rest = _rest[token.Length..];
            return true;
        }
    }

    /// <summary>Compares the key without regard to case.</summary>
    public readonly bool Is(ReadOnlySpan<byte> key) => System.Text.Ascii.EqualsIgnoreCase(Key, key);
}
