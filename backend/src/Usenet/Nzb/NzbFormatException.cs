namespace Sluice.Usenet.Nzb;

/// <summary>Why an NZB cannot be used.</summary>
public enum NzbFault
{
    /// <summary>The input is something else, or XML that breaks off or is malformed.</summary>
    NotAnNzb,

    /// <summary>It lists no usable article.</summary>
    Empty,

    /// <summary>It exceeds one of <see cref="NzbLimits"/>.</summary>
    TooLarge,
}

/// <summary>The input is no NZB that can be used; no other exception reports the content of an NZB.</summary>
public sealed class NzbFormatException : FormatException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="fault">Which kind of refusal.</param>
    /// <param name="detail">The kind of input that was detected, or the limit that was exceeded: a few words that fit into brackets.</param>
    /// <param name="inner">What the XML reader or the decompressor said, if anything.</param>
    public NzbFormatException(NzbFault fault, string detail, Exception? inner = null)
        : base(Sentence(fault, detail), inner)
    {
        Fault = fault;
        Detail = detail;
    }

    /// <summary>Which kind of refusal.</summary>
    public NzbFault Fault { get; }

    /// <summary>The kind of input that was detected, or the limit that was exceeded. Never empty; holds nothing of the input but an element name.</summary>
    public string Detail { get; }

    private static string Sentence(NzbFault fault, string detail) => fault switch
    {
        NzbFault.Empty => "The NZB lists no usable articles.",
        NzbFault.TooLarge => $"The NZB is larger than the limits allow ({detail}).",
        _ => $"The file is not an NZB ({detail}).",
    };
}
