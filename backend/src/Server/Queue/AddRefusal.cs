namespace Sluice.Server.Queue;

/// <summary>Why nothing was added. None is about the content but its size (SAB-22, SAB-23).</summary>
internal enum AddRefusal
{
    /// <summary>As many items are queued as the settings allow.</summary>
    QueueFull,

    /// <summary>Too little room on the disk of the data folder.</summary>
    DiskFull,

    /// <summary>More bytes than an NZB may have, packed or plain.</summary>
    TooLarge,

    /// <summary>The upload did not end in time.</summary>
    TooSlow,

    /// <summary>A file of its name is there, and may not be replaced.</summary>
    NameTaken,
}
