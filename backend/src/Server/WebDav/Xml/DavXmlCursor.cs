using System.Buffers;
using System.Globalization;
using System.Text;
using System.Xml;

namespace Sluice.Server.WebDav;

/// <summary>A place in the text of a document, and the tokens of XML 1.0 that can stand there.</summary>
internal ref struct DavXmlCursor
{
    private readonly ReadOnlySpan<char> _text;
    private int _at;

    public DavXmlCursor(ReadOnlySpan<char> text) => _text = text;

    public readonly bool AtEnd => _at == _text.Length;

    public readonly bool AtSpace => !AtEnd && IsSpace(_text[_at]);

    public readonly bool At(scoped ReadOnlySpan<char> token) => _text[_at..].StartsWith(token);

    /// <summary>Moves behind <paramref name="token"/> if it stands here.</summary>
    public bool Take(scoped ReadOnlySpan<char> token)
    {
        if (!At(token))
            return false;
        _at += token.Length;
        return true;
    }

    public void Expect(scoped ReadOnlySpan<char> token)
    {
        if (!Take(token))
            throw new DavXmlException("The XML is malformed.");
    }

    /// <summary><c>S ::= (#x20 | #x9 | #xD | #xA)+</c>, also none of it. Says whether there was any.</summary>
    public bool SkipSpace()
    {
        int start = _at;
        while (!AtEnd && IsSpace(_text[_at]))
            _at++;
        return _at > start;
    }

    /// <summary>Everything up to <paramref name="end"/>, behind which the cursor then stands.</summary>
    public ReadOnlySpan<char> TakeUntil(scoped ReadOnlySpan<char> end)
    {
        int length = _text[_at..].IndexOf(end);
        if (length < 0)
            throw new DavXmlException("The XML ends too early.");
        ReadOnlySpan<char> taken = _text.Slice(_at, length);
        _at += length + end.Length;
        return taken;
    }

    /// <summary>Characters up to the next one of <paramref name="stops"/>, at which the cursor then stands.</summary>
    public ReadOnlySpan<char> TakeText(SearchValues<char> stops)
    {
        int length = _text[_at..].IndexOfAny(stops);
        if (length < 0)
            throw new DavXmlException("The XML ends too early.");
        ReadOnlySpan<char> taken = _text.Slice(_at, length);
        _at += length;
        return taken;
    }

    /// <summary><c>QName ::= PrefixedName | UnprefixedName</c>; both parts are NCNames, the prefix empty where there is none.</summary>
    public ReadOnlySpan<char> TakeName(out ReadOnlySpan<char> prefix, out ReadOnlySpan<char> local)
    {
        int start = _at;
        prefix = default;
        local = TakeNcName();
        if (Take(":"))
        {
            prefix = local;
            local = TakeNcName();
        }

        return _text[start.._at];
    }

    /// <summary>
    /// <c>Reference ::= EntityRef | CharRef</c>. Only the five entities that need no declaration exist, so none can expand.
    /// </summary>
    public void TakeReference(StringBuilder output)
    {
        Expect("&");
        ReadOnlySpan<char> name = TakeUntil(";");
        char? known = name switch
        {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => null,
        };
        if (known is { } value)
            output.Append(value);
        else
            output.Append(TakeCharacter(name));
    }

    private static string TakeCharacter(ReadOnlySpan<char> name)
    {
        uint code = 0;
        bool parsed = name.StartsWith("#x")
            ? uint.TryParse(name[2..], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code)
            : name.StartsWith('#') && uint.TryParse(name[1..], NumberStyles.None, CultureInfo.InvariantCulture, out code);
        if (!parsed || !Rune.TryCreate(code, out Rune rune) || !IsXmlCharacter(rune))
            throw new DavXmlException("An entity is not one of the five predefined ones.");
        return rune.ToString();
    }

    private static bool IsXmlCharacter(Rune rune) => rune.Value switch
    {
        '\t' or '\n' or '\r' => true,
        < 0x20 or 0xFFFE or 0xFFFF => false,
        _ => true,
    };

    private static bool IsSpace(char value) => value is ' ' or '\t' or '\r' or '\n';

    private ReadOnlySpan<char> TakeNcName()
    {
        int start = _at;
        if (AtEnd || !IsNameStart(_text[_at]))
            throw new DavXmlException("The XML is malformed.");
        while (!AtEnd && (XmlConvert.IsNCNameChar(_text[_at]) || char.IsSurrogate(_text[_at])))
            _at++;
        return _text[start.._at];
    }

    private static bool IsNameStart(char value) => XmlConvert.IsStartNCNameChar(value) || char.IsSurrogate(value);
}
