namespace Sluice.Usenet.Nzb;

/// <summary>Why an NZB cannot be used.</summary>
public enum NzbFault
{
    /// <summary>The input is another file type, or truncated or malformed XML.</summary>
    NotAnNzb,

    /// <summary>The NZB lists no usable article.</summary>
    Empty,

    /// <summary>The NZB exceeds one of <see cref="NzbLimits"/>.</summary>
    TooLarge,
}

/// <summary>The input is not a usable NZB. Only this exception reports problems with an NZB's content.</summary>
public sealed class NzbFormatException : FormatException
{
    public NzbFormatException(NzbFault fault, string detail, Exception? inner = null)
        : base(Sentence(fault, detail), inner)
    {
        Fault = fault;
        Detail = detail;
    }

    public NzbFault Fault { get; }

    /// <summary>The detected file type or exceeded limit, in a few words for use in parentheses. Quotes only element names from the input.</summary>
    public string Detail { get; }

    private static string Sentence(NzbFault fault, string detail) => fault switch
    {
        NzbFault.Empty => "The NZB lists no usable articles.",
        NzbFault.TooLarge => $"The NZB is larger than the limits allow ({detail}).",
        _ => $"The file is not an NZB ({detail}).",
    };
}
