namespace Sluice.Usenet.Nntp;

/// <summary>The purpose of a fetch. Lower values overtake higher ones.</summary>
public enum OperationLane : byte
{
    /// <summary>A viewer watches, or a client downloads.</summary>
    Playback,

    /// <summary>A release is being added.</summary>
    Import,

    /// <summary>A background check of articles.</summary>
    HealthCheck,
}
